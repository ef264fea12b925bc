// tt.dot, and the operands of tt.dot_scaled. Products are summed in the accumulator's machine type:
// fp32 for small floats, i32 for i8. The inner loop runs over n, along one row of the result, so
// that it vectorises.
#include <cmath>
#include <limits>
#include <vector>

#include "gym/triton_ir/execute/handlers.h"
#include "gym/triton_ir/execute/machine.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

struct Sizes {
  std::int64_t batch, m, n, k;
};

Sizes sizes_of(const std::vector<std::int64_t>& table) {
  return {table[0], table[1], table[2], table[3]};
}

// Computes c += a * b. It takes four rows of b at a time, to read and write c less often. The order
// of the sum does not change.
template <typename T, typename Sum>
void multiply(const T* a, const T* b, Sum* __restrict c, const Sizes& size) {
  for (std::int64_t batch = 0; batch < size.batch; ++batch, b += size.k * size.n)
    for (std::int64_t i = 0; i < size.m; ++i, a += size.k, c += size.n) {
      std::int64_t k = 0;
      for (; k + 4 <= size.k; k += 4) {
        const T *b0 = b + k * size.n, *b1 = b0 + size.n, *b2 = b1 + size.n, *b3 = b2 + size.n;
        const auto a0 = static_cast<Sum>(a[k]), a1 = static_cast<Sum>(a[k + 1]),
                   a2 = static_cast<Sum>(a[k + 2]), a3 = static_cast<Sum>(a[k + 3]);
        for (std::int64_t j = 0; j < size.n; ++j)
          c[j] = c[j] + a0 * static_cast<Sum>(b0[j]) + a1 * static_cast<Sum>(b1[j]) +
                 a2 * static_cast<Sum>(b2[j]) + a3 * static_cast<Sum>(b3[j]);
      }
      for (; k < size.k; ++k)
        for (std::int64_t j = 0; j < size.n; ++j)
          c[j] += static_cast<Sum>(a[k]) * static_cast<Sum>(b[k * size.n + j]);
    }
}

template <typename T, typename Sum>
void dot(Machine& machine, const Instruction& instruction) {
  Sum* out = machine.output<Sum>(instruction);
  std::copy_n(machine.input<Sum>(instruction, 2), instruction.count, out);
  multiply(machine.input<T>(instruction, 0), machine.input<T>(instruction, 1), out,
           sizes_of(machine.table(instruction)));
}

using Floats = std::vector<float>;

// Splits an operand into parts. Each part is the rounding of what the earlier parts left.
std::vector<Floats> split(const float* values, std::int64_t count, std::size_t parts,
                          float (*round)(float)) {
  std::vector<Floats> made(parts, Floats(static_cast<std::size_t>(count)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    float left = values[i];
    for (Floats& part : made) {
      part[i] = round(left);
      // An infinity or NaN leaves no rest.
      left = std::isfinite(part[i]) ? left - part[i] : 0.0f;
    }
  }
  return made;
}

// Multiplies fp32 operands as tensor cores do. tf32 truncates them. The x3 and x6 modes add
// products of the rests.
void dot_split(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const Sizes size = sizes_of(table);
  const auto precision = static_cast<DotPrecision>(table[4]);
  if (precision == DotPrecision::ieee) return dot<float, float>(machine, instruction);
  const bool bf16 = precision == DotPrecision::bf16x3 || precision == DotPrecision::bf16x6;
  const std::size_t parts = precision == DotPrecision::tf32     ? 1
                            : precision == DotPrecision::bf16x6 ? 3
                                                                : 2;
  float (*round)(float) = bf16 ? round_to_bf16 : truncate_to_tf32;
  const std::vector<Floats> a =
      split(machine.input<float>(instruction, 0), size.batch * size.m * size.k, parts, round);
  const std::vector<Floats> b =
      split(machine.input<float>(instruction, 1), size.batch * size.k * size.n, parts, round);
  float* out = machine.output<float>(instruction);
  std::copy_n(machine.input<float>(instruction, 2), instruction.count, out);
  // Adds products of parts i and j with i + j < parts, the small ones first.
  for (std::size_t order = parts; order-- > 0;)
    for (std::size_t i = 0; i <= order; ++i) multiply(a[i].data(), b[order - i].data(), out, size);
}

// The numbers of 4 bits that tt.dot_scaled takes.
constexpr float kFp4[] = {0.0f,  0.5f,  1.0f,  1.5f,  2.0f,  3.0f,  4.0f,  6.0f,
                          -0.0f, -0.5f, -1.0f, -1.5f, -2.0f, -3.0f, -4.0f, -6.0f};

// An e8m0 scale is a power of two. 255 is NaN.
float power_of(std::uint8_t scale) {
  return scale == 255 ? std::numeric_limits<float>::quiet_NaN()
                      : static_cast<float>(std::ldexp(1.0, int{scale} - 127));
}

}  // namespace

Handler dot_handler(Element operand, Element result) {
  if (operand == Element::i8 && result == Element::i32)
    return dot<std::int8_t, std::uint32_t>;  // the sum wraps
  if (operand == Element::f64 && result == Element::f64) return dot<double, double>;
  if (operand == Element::f32 && result == Element::f32) return dot_split;
  const bool floats = is_small_float(operand) &&
                      (result == Element::f32 || result == Element::f16 || result == Element::bf16);
  return floats ? dot<float, float> : Handler(nullptr);
}

void multiply_out_scales(Machine& machine, const Instruction& instruction) {
  const std::vector<std::int64_t>& table = machine.table(instruction);
  const auto form = static_cast<ScaledForm>(table[0]);
  const std::int64_t outer = table[1], inner = table[2], group = table[3];
  const bool is_right = table[4] != 0;
  float* out = machine.output<float>(instruction);
  const auto* bytes = machine.input<std::uint8_t>(instruction, 0);
  const auto* floats = machine.input<float>(instruction, 0);
  const bool fp4 = form == ScaledForm::fp4_by_power || form == ScaledForm::fp4_by_number;
  const bool by_power = form == ScaledForm::fp4_by_power || form == ScaledForm::float_by_power;
  // [outer, inner] on the left side, [inner, outer] on the right.
  const std::int64_t along_inner = is_right ? outer : 1, along_outer = is_right ? 1 : inner;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const std::int64_t at = o * along_outer + i * along_inner;
      float value = 0;
      if (fp4) {  // two numbers in a byte, side by side along the inner dimension
        const std::int64_t byte = is_right ? i / 2 * outer + o : o * (inner / 2) + i / 2;
        value = kFp4[bytes[byte] >> (4 * (i % 2)) & 15];
      } else {
        value = floats[at];
      }
      if (instruction.inputs[1] != kNone) {
        const std::int64_t index = o * (inner / group) + i / group;
        value *= by_power ? power_of(machine.input<std::uint8_t>(instruction, 1)[index])
                          : machine.input<float>(instruction, 1)[index];
      }
      out[at] = value;
    }
}

}  // namespace tritonsmith::gym::triton_ir
