// Rounds to the formats of floats that registers keep as fp32: fp16, bf16, five fp8 formats, and
// TF32 for dot operands. The functions round an fp32 to such a format and convert to and from its
// bits in memory. All are pure, and the compiler can vectorise loops around them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gym/triton_ir/syntax/value_type.h"

namespace tritonsmith::gym::triton_ir {

inline float bits_to_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t float_to_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// Rounds to nearest even. NaN stays NaN.
inline float round_to_bf16(float value) {
  std::uint32_t bits = float_to_bits(value);
  std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u;
  return value != value ? bits_to_float((bits | 0x00400000u) & 0xFFFF0000u)
                        : bits_to_float(rounded);
}

// Rounds to nearest even, with subnormals and overflow to infinity. Adding 1.5 * 2^(e+13) in effect
// rounds at bit e.
inline float round_to_f16(float value) {
  std::uint32_t bits = float_to_bits(value);
  std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t normal = (magnitude + 0x0FFFu + ((magnitude >> 13) & 1u)) & 0xFFFFE000u;
  float tiny = (bits_to_float(magnitude) + 0.75f) - 0.75f;  // multiples of 2^-24
  std::uint32_t rounded = magnitude < 0x38800000u ? float_to_bits(tiny) : normal;
  rounded = rounded >= 0x47800000u ? 0x7F800000u : rounded;  // 65520 and above
  rounded = magnitude > 0x7F800000u ? 0x7FC00000u : rounded;
  return bits_to_float(rounded | (bits & 0x80000000u));
}

// Returns the value that tensor cores read of an fp32 operand in TF32 mode. Triton passes the fp32
// bits unchanged, and the GPU ignores the low 13.
inline float truncate_to_tf32(float value) {
  return value != value ? value : bits_to_float(float_to_bits(value) & 0xFFFFE000u);
}

// Convert fp32 numbers that are exact in the format to and from its bits.
inline std::uint16_t bf16_bits(float value) {
  return static_cast<std::uint16_t>(float_to_bits(value) >> 16);
}
inline float bf16_value(std::uint16_t bits) { return bits_to_float(std::uint32_t{bits} << 16); }

inline std::uint16_t f16_bits(float value) {
  std::uint32_t bits = float_to_bits(value);
  std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t normal = (magnitude - 0x38000000u) >> 13;
  std::uint32_t tiny = static_cast<std::uint32_t>(
      static_cast<std::int32_t>(bits_to_float(magnitude & 0x3FFFFFFFu) * 16777216.0f));
  std::uint32_t result = magnitude < 0x38800000u ? tiny : normal;
  result = magnitude == 0x7F800000u ? 0x7C00u : result;
  result = magnitude > 0x7F800000u ? 0x7E00u : result;
  return static_cast<std::uint16_t>(sign | result);
}
inline float f16_value(std::uint16_t half) {
  std::uint32_t magnitude = half & 0x7FFFu, sign = std::uint32_t{half & 0x8000u} << 16;
  std::uint32_t normal = (magnitude << 13) + 0x38000000u;
  std::uint32_t special = (magnitude << 13) | 0x7F800000u;
  float tiny = static_cast<float>(static_cast<std::int32_t>(magnitude & 0x3FFu)) * 0x1p-24f;
  std::uint32_t bits = magnitude < 0x400u ? float_to_bits(tiny) : normal;
  bits = magnitude >= 0x7C00u ? special : bits;
  return bits_to_float(bits | sign);
}

enum class Rounding { nearest_even, toward_zero };

// Rounds an fp32 to any small float and returns it as fp32. fp8 saturates at its largest finite
// number, also for infinities, as cvt.rn.satfinite does on a GPU. fp16 and bf16 overflow to
// infinity.
float round_to(Element format, float value, Rounding rounding);

// Rounds an fp64 to fp32 by rounding to odd. A second rounding to fewer bits then equals the direct
// rounding of the fp64.
float round_to_odd(double value);

// Return the 256 values of an fp8 format as fp32, and the bits of a value that the format can hold.
const float* fp8_values(Element format);
std::uint8_t fp8_bits(Element format, float value);

}  // namespace tritonsmith::gym::triton_ir
