// tt.dot. Products are summed in the accumulator's machine type: fp32 for small floats, i32 for i8.
// The inner loop runs over n, along one row of the result, so that it vectorises.
#include <cmath>
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

}  // namespace tritonsmith::gym::triton_ir
