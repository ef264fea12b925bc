#include "gym/triton_ir/execute/number_formats.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// The meaning of the codes at the end of the range. ieee: an exponent of all ones is infinity or
// NaN. fn: all ones is NaN. fnuz: 0x80 is NaN, and there is no negative zero. none: every code is a
// number.
enum class Special { ieee, fn, fnuz, none };

struct Fp8 {
  int mantissa_bits = 0;
  int bias = 0;
  Special special = Special::none;
};

Fp8 fp8_format(Element format) {
  switch (format) {
    case Element::f8e5m2:
      return {.mantissa_bits = 2, .bias = 15, .special = Special::ieee};
    case Element::f8e4m3fn:
      return {.mantissa_bits = 3, .bias = 7, .special = Special::fn};
    case Element::f8e4m3fnuz:
      return {.mantissa_bits = 3, .bias = 8, .special = Special::fnuz};
    case Element::f8e5m2fnuz:
      return {.mantissa_bits = 2, .bias = 16, .special = Special::fnuz};
    // Triton's fp8e4b15 borrows this MLIR type; its own bias is 15.
    case Element::f8e4m3b11fnuz:
      return {.mantissa_bits = 3, .bias = 15};
    default:
      break;
  }
  CHECK(false, "{} is no fp8 format", name_of(format));
}

float decode_fp8(Fp8 format, int bits) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const int exponent_bits = 7 - format.mantissa_bits;
  const int exponent = (bits & 0x7F) >> format.mantissa_bits;
  const int mantissa = bits & ((1 << format.mantissa_bits) - 1);
  const float sign = (bits & 0x80) != 0 ? -1.0f : 1.0f;
  if (format.special == Special::fnuz && bits == 0x80) return nan;
  if (format.special == Special::ieee && exponent == (1 << exponent_bits) - 1)
    return mantissa != 0 ? nan : sign * std::numeric_limits<float>::infinity();
  if (format.special == Special::fn && (bits & 0x7F) == 0x7F) return nan;
  const int scale = std::max(exponent, 1) - format.bias - format.mantissa_bits;
  const int significand = mantissa + (exponent > 0 ? 1 << format.mantissa_bits : 0);
  return sign * std::ldexp(static_cast<float>(significand), scale);
}

using Table = std::array<float, 256>;

Table make_table(Element format) {
  Table table{};
  for (int bits = 0; bits < 256; ++bits)
    table[static_cast<std::size_t>(bits)] = decode_fp8(fp8_format(format), bits);
  return table;
}

// Codes 0 to this one are the format's non-negative finite numbers in ascending order.
int largest_code(Element format) {
  if (format == Element::f8e5m2) return 0x7B;
  return format == Element::f8e4m3fn ? 0x7E : 0x7F;
}

int nan_code(Element format) { return fp8_format(format).special == Special::fnuz ? 0x80 : 0x7F; }

int encode_fp8(Element format, float value, Rounding rounding) {
  const float* values = fp8_values(format);
  if (value != value) return nan_code(format);
  const float magnitude = std::fabs(value);
  const int largest = largest_code(format);
  const float* end = values + largest + 1;
  const float* above = std::lower_bound(values, end, magnitude);  // the first one not below
  int code = static_cast<int>(above - values);
  if (code > largest)
    code = largest;
  else if (*above != magnitude) {
    const float middle = 0.5f * (values[code - 1] + values[code]);
    const bool down = rounding == Rounding::toward_zero || magnitude < middle ||
                      (magnitude == middle && ((code - 1) & 1) == 0);
    if (down) --code;
  }
  const bool negative =
      std::signbit(value) && !(code == 0 && fp8_format(format).special == Special::fnuz);
  return code | (negative ? 0x80 : 0);
}

float toward_zero_f16(float value) {
  float nearest = round_to_f16(value);
  if (value != value || std::fabs(nearest) <= std::fabs(value)) return nearest;
  // Magnitudes have the order of their bits, so this is the next one towards zero.
  return f16_value(static_cast<std::uint16_t>(f16_bits(nearest) - 1));
}

}  // namespace

float round_to(Element format, float value, Rounding rounding) {
  if (format == Element::f16)
    return rounding == Rounding::nearest_even ? round_to_f16(value) : toward_zero_f16(value);
  if (format == Element::bf16) {
    if (rounding == Rounding::nearest_even || value != value) return round_to_bf16(value);
    return bits_to_float(float_to_bits(value) & 0xFFFF0000u);
  }
  return fp8_values(format)[encode_fp8(format, value, rounding)];
}

float round_to_odd(double value) {
  float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || value != value || std::isinf(nearest))
    return nearest;
  std::uint32_t bits = float_to_bits(nearest);
  if (std::fabs(static_cast<double>(nearest)) > std::fabs(value)) --bits;
  return bits_to_float(bits | 1u);
}

const float* fp8_values(Element format) {
  static const Table e5m2 = make_table(Element::f8e5m2), e4m3fn = make_table(Element::f8e4m3fn),
                     e4m3fnuz = make_table(Element::f8e4m3fnuz),
                     e5m2fnuz = make_table(Element::f8e5m2fnuz),
                     b11 = make_table(Element::f8e4m3b11fnuz);
  switch (format) {
    case Element::f8e5m2:
      return e5m2.data();
    case Element::f8e4m3fn:
      return e4m3fn.data();
    case Element::f8e4m3fnuz:
      return e4m3fnuz.data();
    case Element::f8e5m2fnuz:
      return e5m2fnuz.data();
    case Element::f8e4m3b11fnuz:
      return b11.data();
    default:
      break;
  }
  CHECK(false, "{} is no fp8 format", name_of(format));
}

std::uint8_t fp8_bits(Element format, float value) {
  if (format == Element::f8e5m2 && std::isinf(value)) return value > 0 ? 0x7C : 0xFC;
  return static_cast<std::uint8_t>(encode_fp8(format, value, Rounding::nearest_even));
}

}  // namespace tritonsmith::gym::triton_ir
