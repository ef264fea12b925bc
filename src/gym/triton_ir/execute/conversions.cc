// Conversions between element types, fills and moves.
#include <cmath>
#include <cstring>
#include <limits>

#include "gym/triton_ir/execute/elementwise.h"
#include "gym/triton_ir/execute/loops.h"
#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

using Bit = std::uint8_t;

// Converts as a GPU's cvt.rzi does: towards zero, out of range to the nearest end, and NaN to 0.
template <typename Out, typename T>
Out to_integer(T value) {
  constexpr T low = static_cast<T>(std::numeric_limits<Out>::min());
  constexpr T high = static_cast<T>(std::numeric_limits<Out>::max());  // rounds up for wide types
  if (value != value) return 0;
  if (value <= low) return std::numeric_limits<Out>::min();
  return value >= high ? std::numeric_limits<Out>::max() : static_cast<Out>(value);
}

template <typename From, typename To>
constexpr Handler cast_handler() {
  return unary<From, [](From a) { return static_cast<To>(a); }, To>;
}

template <typename From>
Handler cast_to(Element to) {
  switch (to) {
    case Element::i1:
      return unary<
          From, [](From a) { return static_cast<Bit>(static_cast<std::uint64_t>(a) & 1u); }, Bit>;
    case Element::i8:
      return cast_handler<From, std::int8_t>();
    case Element::i16:
      return cast_handler<From, std::int16_t>();
    case Element::i32:
      return cast_handler<From, std::int32_t>();
    case Element::i64:
      return cast_handler<From, std::int64_t>();
    case Element::f64:
      return cast_handler<From, double>();
    default:
      return is_float(to) ? cast_handler<From, float>() : nullptr;
  }
}

template <typename From>
Handler sign_to(Element to) {  // from i1: true is -1
  switch (to) {
    case Element::i8:
      return unary<From, [](From a) { return -a; }, std::int8_t>;
    case Element::i16:
      return unary<From, [](From a) { return -a; }, std::int16_t>;
    case Element::i32:
      return unary<From, [](From a) { return -a; }, std::int32_t>;
    case Element::i64:
      return unary<From, [](From a) { return -a; }, std::int64_t>;
    case Element::f64:
      return unary<From, [](From a) { return -a; }, double>;
    default:
      return is_float(to) ? Handler(unary<From, [](From a) { return -a; }, float>) : nullptr;
  }
}

Handler from_signed(Element from, Element to) {
  switch (from) {
    case Element::i1:
      return sign_to<Bit>(to);
    case Element::i8:
      return cast_to<std::int8_t>(to);
    case Element::i16:
      return cast_to<std::int16_t>(to);
    case Element::i32:
      return cast_to<std::int32_t>(to);
    case Element::i64:
      return cast_to<std::int64_t>(to);
    default:
      return nullptr;
  }
}

Handler from_unsigned(Element from, Element to) {
  switch (from) {
    case Element::i1:
    case Element::i8:
      return cast_to<std::uint8_t>(to);
    case Element::i16:
      return cast_to<std::uint16_t>(to);
    case Element::i32:
      return cast_to<std::uint32_t>(to);
    case Element::i64:
      return cast_to<std::uint64_t>(to);
    default:
      return nullptr;
  }
}

template <typename From>
Handler to_signed(Element to) {
  switch (to) {
    case Element::i1:
      return unary<From, [](From a) { return static_cast<Bit>(to_integer<std::int32_t>(a) & 1); },
                   Bit>;
    case Element::i8:
      return unary<From,
                   [](From a) { return static_cast<std::int8_t>(to_integer<std::int32_t>(a)); },
                   std::int8_t>;
    case Element::i16:
      return unary<From, [](From a) { return to_integer<std::int16_t>(a); }, std::int16_t>;
    case Element::i32:
      return unary<From, [](From a) { return to_integer<std::int32_t>(a); }, std::int32_t>;
    case Element::i64:
      return unary<From, [](From a) { return to_integer<std::int64_t>(a); }, std::int64_t>;
    default:
      return nullptr;
  }
}

template <typename From>
Handler to_unsigned(Element to) {
  switch (to) {
    case Element::i1:
      return unary<From, [](From a) { return static_cast<Bit>(to_integer<std::uint32_t>(a) & 1u); },
                   Bit>;
    case Element::i8:
      return unary<From,
                   [](From a) { return static_cast<std::uint8_t>(to_integer<std::uint32_t>(a)); },
                   std::uint8_t>;
    case Element::i16:
      return unary<From, [](From a) { return to_integer<std::uint16_t>(a); }, std::uint16_t>;
    case Element::i32:
      return unary<From, [](From a) { return to_integer<std::uint32_t>(a); }, std::uint32_t>;
    case Element::i64:
      return unary<From, [](From a) { return to_integer<std::uint64_t>(a); }, std::uint64_t>;
    default:
      return nullptr;
  }
}

// A rounding handler works on the output register itself.
template <auto function>
void in_place(Machine& machine, const Instruction& instruction) {
  float* values = machine.output<float>(instruction);
  for (std::uint32_t k = 0; k < instruction.count; ++k) values[k] = function(values[k]);
}

template <Element element, Rounding rounding>
void round_slowly(Machine& machine, const Instruction& instruction) {
  in_place<[](float a) { return round_to(element, a, rounding); }>(machine, instruction);
}

template <Element element>
void pack_fp8(Machine& machine, const Instruction& instruction) {
  unary<float, [](float a) { return fp8_bits(element, a); }, std::uint8_t>(machine, instruction);
}

template <Element element>
void unpack_fp8(Machine& machine, const Instruction& instruction) {
  const float* values = fp8_values(element);
  float* out = machine.output<float>(instruction);
  const std::uint8_t* bits = machine.input<std::uint8_t>(instruction, 0);
  for (std::uint32_t k = 0; k < instruction.count; ++k) out[k] = values[bits[k]];
}

template <typename T>
void fill(Machine& machine, const Instruction& instruction) {
  T value;
  std::memcpy(&value, &instruction.immediate, sizeof value);
  std::fill_n(machine.output<T>(instruction), instruction.count, value);
}

template <typename T>
void splat(Machine& machine, const Instruction& instruction) {
  std::fill_n(machine.output<T>(instruction), instruction.count, *machine.input<T>(instruction, 0));
}

template <typename T>
void copy(Machine& machine, const Instruction& instruction) {
  std::memmove(machine.output<T>(instruction), machine.input<T>(instruction, 0),
               sizeof(T) * instruction.count);
}

template <typename T>
void select(Machine& machine, const Instruction& instruction) {
  T* __restrict out = machine.output<T>(instruction);
  const Bit* condition = machine.input<Bit>(instruction, 0);
  const T* a = machine.input<T>(instruction, 1);
  const T* b = machine.input<T>(instruction, 2);
  for (std::uint32_t k = 0; k < instruction.count; ++k) out[k] = condition[k] != 0 ? a[k] : b[k];
}

void range(Machine& machine, const Instruction& instruction) {
  std::int32_t* out = machine.output<std::int32_t>(instruction);
  for (std::uint32_t k = 0; k < instruction.count; ++k)
    out[k] = static_cast<std::int32_t>(instruction.immediate + k);
}

}  // namespace

Handler find_conversion(std::string_view name, Element from, Element to) {
  if (name == "arith.extsi" || name == "arith.trunci" || name == "arith.index_cast")
    return is_integer(to) ? from_signed(from, to) : nullptr;
  if (name == "arith.extui" || name == "arith.index_castui")
    return is_integer(to) ? from_unsigned(from, to) : nullptr;
  if (name == "arith.sitofp") return is_float(to) ? from_signed(from, to) : nullptr;
  if (name == "arith.uitofp") return is_float(to) ? from_unsigned(from, to) : nullptr;
  if (name == "arith.fptosi")
    return from == Element::f64 ? to_signed<double>(to) : to_signed<float>(to);
  if (name == "arith.fptoui")
    return from == Element::f64 ? to_unsigned<double>(to) : to_unsigned<float>(to);
  if (name == "arith.extf") return to == Element::f64 ? cast_handler<float, double>() : nullptr;
  if (name == "arith.truncf") return from == Element::f64 ? cast_handler<double, float>() : nullptr;
  return nullptr;
}

Handler rounding_handler(Element element, bool toward_zero) {
  switch (element) {
    case Element::f16:
      return toward_zero ? round_slowly<Element::f16, Rounding::toward_zero>
                         : Handler(in_place<[](float a) { return round_to_f16(a); }>);
    case Element::bf16:
      return toward_zero ? round_slowly<Element::bf16, Rounding::toward_zero>
                         : Handler(in_place<[](float a) { return round_to_bf16(a); }>);
    case Element::f8e5m2:
      return toward_zero ? round_slowly<Element::f8e5m2, Rounding::toward_zero>
                         : round_slowly<Element::f8e5m2, Rounding::nearest_even>;
    case Element::f8e4m3fn:
      return round_slowly<Element::f8e4m3fn, Rounding::nearest_even>;
    case Element::f8e4m3fnuz:
      return round_slowly<Element::f8e4m3fnuz, Rounding::nearest_even>;
    case Element::f8e5m2fnuz:
      return round_slowly<Element::f8e5m2fnuz, Rounding::nearest_even>;
    case Element::f8e4m3b11fnuz:
      return round_slowly<Element::f8e4m3b11fnuz, Rounding::nearest_even>;
    default:
      return nullptr;
  }
}

Handler round_to_odd_handler() {
  return unary<double, [](double a) { return round_to_odd(a); }, float>;
}

Handler pack_handler(Element element) {
  switch (element) {
    case Element::f16:
      return unary<float, [](float a) { return f16_bits(a); }, std::uint16_t>;
    case Element::bf16:
      return unary<float, [](float a) { return bf16_bits(a); }, std::uint16_t>;
    case Element::f8e5m2:
      return pack_fp8<Element::f8e5m2>;
    case Element::f8e4m3fn:
      return pack_fp8<Element::f8e4m3fn>;
    case Element::f8e4m3fnuz:
      return pack_fp8<Element::f8e4m3fnuz>;
    case Element::f8e5m2fnuz:
      return pack_fp8<Element::f8e5m2fnuz>;
    case Element::f8e4m3b11fnuz:
      return pack_fp8<Element::f8e4m3b11fnuz>;
    default:
      return nullptr;
  }
}

Handler unpack_handler(Element element) {
  switch (element) {
    case Element::f16:
      return unary<std::uint16_t, [](std::uint16_t a) { return f16_value(a); }, float>;
    case Element::bf16:
      return unary<std::uint16_t, [](std::uint16_t a) { return bf16_value(a); }, float>;
    case Element::f8e5m2:
      return unpack_fp8<Element::f8e5m2>;
    case Element::f8e4m3fn:
      return unpack_fp8<Element::f8e4m3fn>;
    case Element::f8e4m3fnuz:
      return unpack_fp8<Element::f8e4m3fnuz>;
    case Element::f8e5m2fnuz:
      return unpack_fp8<Element::f8e5m2fnuz>;
    case Element::f8e4m3b11fnuz:
      return unpack_fp8<Element::f8e4m3b11fnuz>;
    default:
      return nullptr;
  }
}

Handler fill_handler(std::size_t bytes) {
  return by_bytes(bytes, fill<std::uint8_t>, fill<std::uint16_t>, fill<std::uint32_t>,
                  fill<std::uint64_t>);
}
Handler splat_handler(std::size_t bytes) {
  return by_bytes(bytes, splat<std::uint8_t>, splat<std::uint16_t>, splat<std::uint32_t>,
                  splat<std::uint64_t>);
}
Handler copy_handler(std::size_t bytes) {
  return by_bytes(bytes, copy<std::uint8_t>, copy<std::uint16_t>, copy<std::uint32_t>,
                  copy<std::uint64_t>);
}
Handler select_handler(std::size_t bytes) {
  return by_bytes(bytes, select<std::uint8_t>, select<std::uint16_t>, select<std::uint32_t>,
                  select<std::uint64_t>);
}
Handler range_handler() { return range; }

}  // namespace tritonsmith::gym::triton_ir
