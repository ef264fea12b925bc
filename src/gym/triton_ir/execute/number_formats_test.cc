#include "gym/triton_ir/execute/number_formats.h"

#include <gtest/gtest.h>

#include <random>

namespace tritonsmith::gym::triton_ir {
namespace {

TEST(NumberFormats, EveryHalfSurvivesTheWayThroughFp32) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f16_value(half);
    if (value != value) continue;
    EXPECT_EQ(f16_bits(value), half);
    EXPECT_EQ(float_to_bits(round_to_f16(value)), float_to_bits(value));
  }
}

TEST(NumberFormats, RoundingToHalfTakesTheNearestAndTheEvenOfTwo) {
  // Between each finite half and the next one, values below the middle round down and values above
  // it round up. The middle rounds to the even one.
  for (std::uint16_t half = 0; half < 0x7BFF; ++half) {
    const float low = f16_value(half), high = f16_value(static_cast<std::uint16_t>(half + 1));
    const float middle = 0.5f * (low + high);
    EXPECT_EQ(round_to_f16(middle), (half & 1) == 0 ? low : high);
    EXPECT_EQ(round_to_f16(std::nextafter(middle, 0.0f)), low);
    EXPECT_EQ(round_to_f16(std::nextafter(middle, 1e30f)), high);
  }
  EXPECT_EQ(round_to_f16(65519.0f), 65504.0f);
  EXPECT_TRUE(std::isinf(round_to_f16(65520.0f)));
  EXPECT_TRUE(std::isnan(round_to_f16(std::nanf(""))));
}

TEST(NumberFormats, RoundingToBf16TakesTheNearestAndTheEvenOfTwo) {
  EXPECT_EQ(round_to_bf16(1.0f + 0x1p-8f), 1.0f);
  EXPECT_EQ(round_to_bf16(1.0f + 3 * 0x1p-8f), 1.0f + 4 * 0x1p-8f);
  EXPECT_EQ(round_to_bf16(std::nextafter(1.0f + 0x1p-8f, 2.0f)), 1.0f + 2 * 0x1p-8f);
  EXPECT_TRUE(std::isnan(round_to_bf16(bits_to_float(0x7F800001u))));
}

TEST(NumberFormats, TowardZeroNeverGrows) {
  EXPECT_EQ(round_to(Element::f16, 1.0f + 0x1.8p-11f, Rounding::toward_zero), 1.0f);
  EXPECT_EQ(round_to(Element::bf16, -1.0f - 0x1.8p-8f, Rounding::toward_zero), -1.0f);
  EXPECT_EQ(round_to(Element::f8e5m2, 1.9f, Rounding::toward_zero), 1.75f);
}

TEST(NumberFormats, EveryFp8CodeSurvives) {
  for (Element format : {Element::f8e5m2, Element::f8e4m3fn, Element::f8e4m3fnuz,
                         Element::f8e5m2fnuz, Element::f8e4m3b11fnuz})
    for (int bits = 0; bits < 256; ++bits) {
      const float value = fp8_values(format)[bits];
      if (value != value) continue;
      EXPECT_EQ(fp8_bits(format, value), bits) << name_of(format);
    }
}

TEST(NumberFormats, Fp8SaturatesAsTheChipDoes) {
  EXPECT_EQ(round_to(Element::f8e4m3fn, 1e6f, Rounding::nearest_even), 448.0f);
  EXPECT_EQ(round_to(Element::f8e5m2, -1e6f, Rounding::nearest_even), -57344.0f);
  EXPECT_TRUE(std::isnan(round_to(Element::f8e4m3fn, std::nanf(""), Rounding::nearest_even)));
}

TEST(NumberFormats, Tf32DropsThirteenBits) {
  EXPECT_EQ(truncate_to_tf32(1.0f + 0x1p-11f), 1.0f);
  EXPECT_EQ(truncate_to_tf32(1.0f + 0x1p-10f), 1.0f + 0x1p-10f);
}

TEST(NumberFormats, ADoubleRoundsOnceOnItsWayToHalf) {
  // This value is just above the middle of 1 and the next half. Rounding to fp32 first gives the
  // middle itself, which rounds down.
  const double value = 1.0 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(round_to_f16(static_cast<float>(value)), 1.0f);
  EXPECT_EQ(round_to_f16(round_to_odd(value)), 1.0f + 0x1p-10f);
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
