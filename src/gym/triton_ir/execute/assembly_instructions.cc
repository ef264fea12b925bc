// The PTX instructions that a block of inline assembly may hold. Approximations are computed as
// exactly as fp32 allows, since a GPU's are within a few units in the last place. Only tanh.approx
// is less exact on a GPU, and here too. PTX promises a relative error of 2^-11. A GPU of sm_90 reaches
// 1.0e-5, as measured over [-8, 8] in November 2026.
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>

#include "gym/triton_ir/execute/assembly.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using In = std::array<std::uint64_t, 4>;
using Bits = std::uint64_t;
using Table = std::map<std::string, AssemblyInstruction, std::less<>>;

std::uint32_t low(Bits bits) { return static_cast<std::uint32_t>(bits); }
std::int32_t whole(Bits bits) { return static_cast<std::int32_t>(low(bits)); }
float number(Bits bits) { return bits_to_float(low(bits)); }
Bits bits_of(float value) { return float_to_bits(value); }

// Keeps 15 bits of the mantissa, about as exact as tanh.approx.f32 is.
float fifteen_bits(float value) {
  return value != value ? value : bits_to_float((float_to_bits(value) + 0x80u) & 0xFFFFFF00u);
}

// A 16-bit format within a packed register.
struct Half {
  static float read(Bits bits) { return f16_value(static_cast<std::uint16_t>(bits)); }
  static Bits write(float value) { return f16_bits(round_to_f16(value)); }
};
struct Brain {
  static float read(Bits bits) { return bf16_value(static_cast<std::uint16_t>(bits)); }
  static Bits write(float value) { return bf16_bits(round_to_bf16(value)); }
};
template <Element format>
struct Eight {
  static float read(Bits bits) { return fp8_values(format)[bits & 0xFF]; }
  static Bits write(float value) {
    return fp8_bits(format, round_to(format, value, Rounding::nearest_even));
  }
};
// fp4: one sign bit, two bits of exponent, one of mantissa.
struct Four {
  static constexpr float kValues[] = {0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  static float read(Bits bits) {
    const float size = kValues[bits & 7];
    return (bits & 8) != 0 ? -size : size;
  }
  static Bits write(float value) {
    const float size = std::fabs(value);
    Bits best = 7;  // NaN becomes the largest number
    for (Bits code = 0; code < 7; ++code) {
      const float middle = (kValues[code] + kValues[code + 1]) / 2;
      if (size < middle || (size == middle && code % 2 == 0)) {
        best = code;
        break;
      }
    }
    return best | (std::signbit(value) && value == value ? 8 : 0);
  }
};

template <typename T, auto function>
Bits both(const In& in) {
  Bits result = 0;
  for (int half = 0; half < 2; ++half) {
    const int shift = 16 * half;
    result |= T::write(function(T::read(in[0] >> shift), T::read(in[1] >> shift),
                                T::read(in[2] >> shift)))
              << shift;
  }
  return result;
}

// Converts two numbers of From, `from_bits` apart, to To.
template <typename From, typename To, int from_bits, int to_bits>
Bits pair(const In& in) {
  return To::write(From::read(in[0])) | To::write(From::read(in[0] >> from_bits)) << to_bits;
}
// Converts two fp32 numbers. PTX puts the first operand into the upper half.
template <typename To, int to_bits>
Bits pair_of_floats(const In& in) {
  return To::write(number(in[1])) | To::write(number(in[0])) << to_bits;
}

Bits select_bytes(const In& in) {  // prmt.b32
  const Bits bytes = Bits{low(in[0])} | Bits{low(in[1])} << 32;
  Bits result = 0;
  for (int k = 0; k < 4; ++k) {
    const Bits selector = in[2] >> (4 * k) & 15;
    Bits byte = bytes >> (8 * (selector & 7)) & 0xFF;
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    result |= byte << (8 * k);
  }
  return result;
}

Bits three_input_logic(const In& in) {  // lop3.b32
  Bits result = 0;
  for (int row = 0; row < 8; ++row) {
    if ((in[3] >> row & 1) == 0) continue;
    const Bits a = (row & 4) != 0 ? in[0] : ~in[0], b = (row & 2) != 0 ? in[1] : ~in[1],
               c = (row & 1) != 0 ? in[2] : ~in[2];
    result |= a & b & c;
  }
  return result;
}

template <typename A, typename B>
Bits dot_of_four(const In& in) {
  std::uint32_t sum = low(in[2]);
  for (int k = 0; k < 4; ++k)
    sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<A>(in[0] >> (8 * k))) *
                                      static_cast<std::int32_t>(static_cast<B>(in[1] >> (8 * k))));
  return sum;
}

template <typename T>
Bits extract(const In& in) {  // bfe
  const auto first = in[1] & 0xFF, count = in[2] & 0xFF;
  if (count == 0 || (first > 31 && !std::is_signed_v<T>)) return 0;
  const auto source = static_cast<std::int64_t>(static_cast<T>(low(in[0])));
  const std::int64_t moved = source >> std::min<Bits>(first, 31);
  if (count > 31) return low(static_cast<Bits>(moved));
  const Bits mask = (Bits{1} << count) - 1;
  const bool negative = std::is_signed_v<T> && (moved >> (count - 1) & 1) != 0;
  return low((static_cast<Bits>(moved) & mask) | (negative ? ~mask : 0));
}

Bits insert(const In& in) {  // bfi.b32 d, a, b, position, length
  const auto first = in[2] & 0xFF, count = std::min<Bits>(in[3] & 0xFF, 32);
  if (first > 31 || count == 0) return in[1];
  const Bits mask = low(((Bits{1} << count) - 1) << first);
  return (in[1] & ~mask) | (low(in[0] << first) & mask);
}

template <typename T>
Bits whole_of(double value) {
  if (value != value) return 0;
  const double least = static_cast<double>(std::numeric_limits<T>::min()),
               most = static_cast<double>(std::numeric_limits<T>::max());
  return static_cast<Bits>(static_cast<std::int64_t>(std::min(std::max(value, least), most)));
}

template <typename T>
Bits packed_saturated(const In& in) {  // cvt.pack.sat.T.s32.b32 d, a, b, c
  const auto one = [](Bits bits) {
    return static_cast<std::uint8_t>(whole_of<T>(static_cast<double>(whole(bits))));
  };
  return Bits{one(in[1])} | Bits{one(in[0])} << 8 | low(in[2]) << 16;
}

// Adds an instruction under its name with and without .ftz. Subnormal numbers are kept in both.
void add_flushed(Table& table, const std::string& name, const std::string& type,
                 AssemblyInstruction instruction) {
  table[name + "." + type] = table[name + ".ftz." + type] = instruction;
}

template <auto function>
void add_approximation(Table& table, const std::string& name) {
  add_flushed(table, name, "f32",
              {[](const In& in) { return bits_of(function(number(in[0]))); }, 1});
}
template <auto function>
void add_packed_approximation(Table& table, const std::string& name) {
  constexpr auto kFirst = [](float a, float, float) { return function(a); };
  add_flushed(table, name, "f16x2", {both<Half, kFirst>, 1});
  add_flushed(table, name, "bf16x2", {both<Brain, kFirst>, 1});
  add_flushed(table, name, "f16",
              {[](const In& in) { return Half::write(function(Half::read(in[0]))); }, 1});
  add_flushed(table, name, "bf16",
              {[](const In& in) { return Brain::write(function(Brain::read(in[0]))); }, 1});
}

void add_approximations(Table& t) {
  add_approximation<[](float a) { return std::exp2(a); }>(t, "ex2.approx");
  add_approximation<[](float a) { return std::log2(a); }>(t, "lg2.approx");
  add_approximation<[](float a) { return 1 / a; }>(t, "rcp.approx");
  add_approximation<[](float a) { return 1 / a; }>(t, "rcp.rn");
  add_approximation<[](float a) { return std::sqrt(a); }>(t, "sqrt.approx");
  add_approximation<[](float a) { return std::sqrt(a); }>(t, "sqrt.rn");
  add_approximation<[](float a) { return 1 / std::sqrt(a); }>(t, "rsqrt.approx");
  add_approximation<[](float a) { return std::sin(a); }>(t, "sin.approx");
  add_approximation<[](float a) { return std::cos(a); }>(t, "cos.approx");
  add_approximation<[](float a) { return fifteen_bits(std::tanh(a)); }>(t, "tanh.approx");
  add_packed_approximation<[](float a) { return std::tanh(a); }>(t, "tanh.approx");
  add_packed_approximation<[](float a) { return std::exp2(a); }>(t, "ex2.approx");
}

template <typename T>
void add_packed_arithmetic(Table& t, const std::string& type) {
  for (const std::string rounding : {"", ".rn"}) {
    add_flushed(t, "add" + rounding, type,
                {both<T, [](float a, float b, float) { return a + b; }>, 2});
    add_flushed(t, "sub" + rounding, type,
                {both<T, [](float a, float b, float) { return a - b; }>, 2});
    add_flushed(t, "mul" + rounding, type,
                {both<T, [](float a, float b, float) { return a * b; }>, 2});
  }
  add_flushed(t, "fma.rn", type,
              {both<T,
                    [](float a, float b, float c) {
                      return round_to_odd(static_cast<double>(a) * static_cast<double>(b) +
                                          static_cast<double>(c));
                    }>,
               3});
  add_flushed(t, "min", type,
              {both<T, [](float a, float b, float) { return std::fmin(a, b); }>, 2});
  add_flushed(t, "max", type,
              {both<T, [](float a, float b, float) { return std::fmax(a, b); }>, 2});
  add_flushed(t, "neg", type, {both<T, [](float a, float, float) { return -a; }>, 1});
  add_flushed(t, "abs", type, {both<T, [](float a, float, float) { return std::fabs(a); }>, 1});
}

template <auto function>
void add_arithmetic(Table& t, const std::string& name, int operands) {
  for (const std::string rounding : {"", ".rn"})
    add_flushed(t, name + rounding, "f32",
                {[](const In& in) {
                   return bits_of(function(number(in[0]), number(in[1]), number(in[2])));
                 },
                 operands});
}

void add_arithmetic_of_floats(Table& t) {
  add_arithmetic<[](float a, float b, float) { return a + b; }>(t, "add", 2);
  add_arithmetic<[](float a, float b, float) { return a - b; }>(t, "sub", 2);
  add_arithmetic<[](float a, float b, float) { return a * b; }>(t, "mul", 2);
  add_arithmetic<[](float a, float b, float c) { return std::fma(a, b, c); }>(t, "fma", 3);
  add_arithmetic<[](float a, float b, float) { return std::fmin(a, b); }>(t, "min", 2);
  add_arithmetic<[](float a, float b, float) { return std::fmax(a, b); }>(t, "max", 2);
  add_arithmetic<[](float a, float, float) { return -a; }>(t, "neg", 1);
  add_arithmetic<[](float a, float, float) { return std::fabs(a); }>(t, "abs", 1);
}

struct Unequal {  // not NaN
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
struct Ordered {
  bool operator()(float a, float b) const { return a == a && b == b; }
};
template <typename Relation>
struct Not {
  bool operator()(float a, float b) const { return !Relation{}(a, b); }
};

template <typename Relation>
void add_comparison_of_floats(Table& t, const std::string& name) {
  add_flushed(t, "setp." + name, "f32",
              {[](const In& in) { return Bits{Relation{}(number(in[0]), number(in[1]))}; }, 2});
}

template <typename Relation>
void add_comparison(Table& t, const std::string& name) {
  add_comparison_of_floats<Relation>(t, name);
  t["setp." + name + ".s32"] = {
      [](const In& in) { return Bits{Relation{}(whole(in[0]), whole(in[1]))}; }, 2};
  t["setp." + name + ".u32"] = {
      [](const In& in) { return Bits{Relation{}(low(in[0]), low(in[1]))}; }, 2};
}

// Comparisons write a register of one bit. Only those of floats whose names end with u, and nan, hold for NaN.
void add_comparisons(Table& t) {
  add_comparison<std::equal_to<>>(t, "eq");
  add_comparison<Unequal>(t, "ne");
  add_comparison<std::less<>>(t, "lt");
  add_comparison<std::less_equal<>>(t, "le");
  add_comparison<std::greater<>>(t, "gt");
  add_comparison<std::greater_equal<>>(t, "ge");
  add_comparison_of_floats<Not<Unequal>>(t, "equ");
  add_comparison_of_floats<Not<std::equal_to<>>>(t, "neu");
  add_comparison_of_floats<Not<std::greater_equal<>>>(t, "ltu");
  add_comparison_of_floats<Not<std::greater<>>>(t, "leu");
  add_comparison_of_floats<Not<std::less_equal<>>>(t, "gtu");
  add_comparison_of_floats<Not<std::less<>>>(t, "geu");
  add_comparison_of_floats<Ordered>(t, "num");
  add_comparison_of_floats<Not<Ordered>>(t, "nan");
  for (const std::string type :
       {"b16", "b32", "b64", "u16", "u32", "u64", "s16", "s32", "s64", "f32"})
    t["selp." + type] = {[](const In& in) { return in[2] != 0 ? in[0] : in[1]; }, 3};
}

void add_conversions_of_floats(Table& t) {
  using E4 = Eight<Element::f8e4m3fn>;
  using E5 = Eight<Element::f8e5m2>;
  t["cvt.rn.f16x2.e4m3x2"] = {pair<E4, Half, 8, 16>, 1};
  t["cvt.rn.f16x2.e5m2x2"] = {pair<E5, Half, 8, 16>, 1};
  t["cvt.rn.f16x2.e2m1x2"] = {pair<Four, Half, 4, 16>, 1};
  t["cvt.rn.satfinite.e4m3x2.f16x2"] = {pair<Half, E4, 16, 8>, 1};
  t["cvt.rn.satfinite.e5m2x2.f16x2"] = {pair<Half, E5, 16, 8>, 1};
  t["cvt.rn.satfinite.e4m3x2.f32"] = {pair_of_floats<E4, 8>, 2};
  t["cvt.rn.satfinite.e5m2x2.f32"] = {pair_of_floats<E5, 8>, 2};
  t["cvt.rn.satfinite.e2m1x2.f32"] = {pair_of_floats<Four, 4>, 2};
  t["cvt.rn.f16x2.f32"] = {pair_of_floats<Half, 16>, 2};
  t["cvt.rn.bf16x2.f32"] = {pair_of_floats<Brain, 16>, 2};
  t["cvt.rn.f16.f32"] = {[](const In& in) { return Half::write(number(in[0])); }, 1};
  t["cvt.rn.bf16.f32"] = {[](const In& in) { return Brain::write(number(in[0])); }, 1};
  t["cvt.f32.f16"] = {[](const In& in) { return bits_of(Half::read(in[0])); }, 1};
  t["cvt.f32.bf16"] = {[](const In& in) { return bits_of(Brain::read(in[0])); }, 1};
  t["cvt.rna.tf32.f32"] = {[](const In& in) { return Bits{low(in[0] + 0x1000) & 0xFFFFE000u}; }, 1};
}

template <typename T>
void add_conversions_to(Table& t, const std::string& type) {
  const std::string end = "." + type + ".f32";
  t["cvt.rni" + end] = t["cvt.rni.sat" + end] = {
      [](const In& in) { return whole_of<T>(std::nearbyint(static_cast<double>(number(in[0])))); },
      1};
  t["cvt.rzi" + end] = t["cvt.rzi.sat" + end] = {
      [](const In& in) { return whole_of<T>(std::trunc(static_cast<double>(number(in[0])))); }, 1};
  t["cvt.rmi" + end] = {
      [](const In& in) { return whole_of<T>(std::floor(static_cast<double>(number(in[0])))); }, 1};
  t["cvt.rpi" + end] = {
      [](const In& in) { return whole_of<T>(std::ceil(static_cast<double>(number(in[0])))); }, 1};
  t["cvt.rn.f32." + type] = {
      [](const In& in) { return bits_of(static_cast<float>(static_cast<T>(in[0]))); }, 1};
  t["cvt.s32." + type] = t["cvt.u32." + type] = {
      [](const In& in) {
        return static_cast<Bits>(static_cast<std::int64_t>(static_cast<T>(in[0])));
      },
      1};
  t["cvt.sat." + type + ".s32"] = {
      [](const In& in) { return whole_of<T>(static_cast<double>(whole(in[0]))); }, 1};
}

void add_conversions_of_integers(Table& t) {
  add_conversions_to<std::int8_t>(t, "s8");
  add_conversions_to<std::uint8_t>(t, "u8");
  add_conversions_to<std::int16_t>(t, "s16");
  add_conversions_to<std::uint16_t>(t, "u16");
  add_conversions_to<std::int32_t>(t, "s32");
  add_conversions_to<std::uint32_t>(t, "u32");
  t["cvt.pack.sat.s8.s32.b32"] = {packed_saturated<std::int8_t>, 3};
  t["cvt.pack.sat.u8.s32.b32"] = {packed_saturated<std::uint8_t>, 3};
}

void add_bits(Table& t) {
  for (const std::string type : {"b16", "b32", "b64"}) {
    t["and." + type] = {[](const In& in) { return in[0] & in[1]; }, 2};
    t["or." + type] = {[](const In& in) { return in[0] | in[1]; }, 2};
    t["xor." + type] = {[](const In& in) { return in[0] ^ in[1]; }, 2};
    t["not." + type] = {[](const In& in) { return ~in[0]; }, 1};
    t["shl." + type] = {[](const In& in) { return low(in[1]) > 63 ? 0 : in[0] << low(in[1]); }, 2};
  }
  for (const std::string type : {"u16", "u32", "b16", "b32", "b64", "u64"})
    t["shr." + type] = {[](const In& in) { return low(in[1]) > 63 ? 0 : in[0] >> low(in[1]); }, 2};
  t["shr.s32"] = {
      [](const In& in) {
        return Bits{static_cast<std::uint32_t>(whole(in[0]) >> std::min(low(in[1]), 31u))};
      },
      2};
  t["lop3.b32"] = {three_input_logic, 4};
  t["prmt.b32"] = {select_bytes, 3};
  t["bfe.u32"] = {extract<std::uint32_t>, 3};
  t["bfe.s32"] = {extract<std::int32_t>, 3};
  t["bfi.b32"] = {insert, 4};
  t["popc.b32"] = {[](const In& in) { return static_cast<Bits>(std::popcount(low(in[0]))); }, 1};
  t["clz.b32"] = {[](const In& in) { return static_cast<Bits>(std::countl_zero(low(in[0]))); }, 1};
  for (const std::string type : {"s32", "u32"}) {
    t["add." + type] = {[](const In& in) { return in[0] + in[1]; }, 2};
    t["sub." + type] = {[](const In& in) { return in[0] - in[1]; }, 2};
    t["mul.lo." + type] = {[](const In& in) { return in[0] * in[1]; }, 2};
    t["mad.lo." + type] = {[](const In& in) { return in[0] * in[1] + in[2]; }, 3};
  }
  t["dp4a.s32.s32"] = {dot_of_four<std::int8_t, std::int8_t>, 3};
  t["dp4a.s32.u32"] = {dot_of_four<std::int8_t, std::uint8_t>, 3};
  t["dp4a.u32.s32"] = {dot_of_four<std::uint8_t, std::int8_t>, 3};
  t["dp4a.u32.u32"] = {dot_of_four<std::uint8_t, std::uint8_t>, 3};
}

Table all_instructions() {
  Table table;
  add_approximations(table);
  add_packed_arithmetic<Half>(table, "f16x2");
  add_packed_arithmetic<Brain>(table, "bf16x2");
  add_arithmetic_of_floats(table);
  add_comparisons(table);
  add_conversions_of_floats(table);
  add_conversions_of_integers(table);
  add_bits(table);
  return table;
}

}  // namespace

const AssemblyInstruction* find_assembly_instruction(std::string_view name) {
  static const Table table = all_instructions();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace tritonsmith::gym::triton_ir
