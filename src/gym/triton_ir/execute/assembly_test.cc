#include "gym/triton_ir/execute/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gym/triton_ir/execute/number_formats.h"

namespace tritonsmith::gym::triton_ir {
namespace {

// Runs a block on operands, and returns its first result.
std::uint64_t run(std::string_view text, std::string_view constraints,
                  const std::vector<std::uint64_t>& operands) {
  const auto block = AssemblyBlock::parse(text, constraints);
  if (!block) {
    ADD_FAILURE() << block.error().message;
    return 0;
  }
  std::vector<std::uint64_t> registers(block->register_count());
  std::ranges::copy(operands, registers.begin() + static_cast<std::ptrdiff_t>(block->results()));
  block->run(registers);
  return registers[0];
}

std::string refusal(std::string_view text, std::string_view constraints = "=r,r") {
  const auto block = AssemblyBlock::parse(text, constraints);
  return block ? "" : block.error().message;
}

TEST(Assembly, UnpacksNibblesIntoHalves) {
  const std::uint64_t halves =
      run("{ .reg .b32 bias; mov.b32 bias, 0x64006400; // 1024, twice\n"
          "lop3.b32 $0, $1, 0x000f000f, bias, 0xea; sub.f16x2 $0, $0, bias; }",
          "=r,r", {0x12395678});
  EXPECT_EQ(f16_value(static_cast<std::uint16_t>(halves)), 8.0f);
  EXPECT_EQ(f16_value(static_cast<std::uint16_t>(halves >> 16)), 9.0f);
}

TEST(Assembly, ConstraintsMayHaveBlanks) {
  EXPECT_EQ(run("shr.s32 $0, $1, 4;", "=r, r", {0x80}), 0x8u);
  EXPECT_EQ(run("lop3.b32 $0, $1, $2, $3, 0x96;", " =r ,r, r , r", {5, 3, 1}), 5u ^ 3u ^ 1u);
  EXPECT_NE(refusal("mov.b32 $0, $1;", "=r, ,r"), "");
}

TEST(Assembly, SelectsBytesAndBits) {
  EXPECT_EQ(run("prmt.b32 $0, $1, $2, 0x5410;", "=r,r,r", {0x11112222, 0x33334444}), 0x44442222u);
  EXPECT_EQ(run("prmt.b32 $0, $1, $2, 0x888b;", "=r,r,r", {0x80000000, 0}), 0x000000FFu);
  EXPECT_EQ(run("lop3.b32 $0, $1, $2, $3, 0x96;", "=r,r,r,r", {5, 3, 1}), 5u ^ 3u ^ 1u);
  EXPECT_EQ(run("bfe.u32 $0, $1, 4, 8;", "=r,r", {0xABCD}), 0xBCu);
  EXPECT_EQ(run("bfe.s32 $0, $1, 4, 8;", "=r,r", {0xABCD}), 0xFFFFFFBCu);
  EXPECT_EQ(run("bfi.b32 $0, $1, $2, 8, 4;", "=r,r,r", {0xF, 0}), 0xF00u);
  EXPECT_EQ(run("shr.s32 $0, $1, 4;", "=r,r", {0x80000000}), 0xF8000000u);
}

TEST(Assembly, MultipliesFourBytes) {
  EXPECT_EQ(run("dp4a.s32.s32 $0, $1, $2, $3;", "=r,r,r,r", {0xFF020304, 0x01010101, 10}), 18u);
  EXPECT_EQ(run("dp4a.u32.s32 $0, $1, $2, $3;", "=r,r,r,r", {0xFF020304, 0x01010101, 10}), 274u);
}

TEST(Assembly, ConvertsPairs) {
  const std::uint64_t halves = run("cvt.rn.f16x2.e4m3x2 $0, $1;", "=r,h", {0x3840});
  EXPECT_EQ(f16_value(static_cast<std::uint16_t>(halves)), 2.0f);
  EXPECT_EQ(f16_value(static_cast<std::uint16_t>(halves >> 16)), 1.0f);
  EXPECT_EQ(run("cvt.rn.satfinite.e4m3x2.f32 $0, $1, $2;", "=h,f,f",
                {float_to_bits(1.0f), float_to_bits(1000.0f)}),
            0x387Eu);
  EXPECT_EQ(
      run("cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", {float_to_bits(1.0f), float_to_bits(-2.0f)}),
      0x3F80C000u);
  EXPECT_EQ(run("{ .reg .b8 b0, b1; cvt.rn.satfinite.e2m1x2.f32 b0, $2, $1;"
                "cvt.rn.satfinite.e2m1x2.f32 b1, $1, $1; mov.b16 $0, {b0, b1}; }",
                "=h,f,f", {float_to_bits(6.0f), float_to_bits(-0.5f)}),
            0x7797u);
}

TEST(Assembly, SplitsAndJoinsRegisters) {
  EXPECT_EQ(
      run("{ .reg .b16 h<2>; mov.b32 {h0, h1}, $1; mov.b32 $0, {h1, h0}; }", "=r,r", {0x12345678}),
      0x56781234u);
}

// Softplus as flash-linear-attention writes it.
TEST(Assembly, RunsInstructionsUnderPredicates) {
  const auto softplus = [](float x) {
    return bits_to_float(static_cast<std::uint32_t>(
        run("{ .reg .pred p; setp.gt.f32  p, $1, 20.; @p  mov.f32  $0, $1;"
            "@!p mul.f32 $0, $1, 1.4426950408889634; @!p ex2.approx.ftz.f32 $0, $0;"
            "@!p add.f32 $0, $0, 1.0; @!p lg2.approx.ftz.f32 $0, $0;"
            "@!p mul.f32 $0, $0, 0.6931471805599453; }",
            "=r,r", {float_to_bits(x)})));
  };
  EXPECT_NEAR(softplus(1.0f), std::log1p(std::exp(1.0f)), 1e-6);
  EXPECT_NEAR(softplus(-3.0f), std::log1p(std::exp(-3.0f)), 1e-6);
  EXPECT_EQ(softplus(21.5f), 21.5f);
}

TEST(Assembly, ComparesAndSelects) {
  const auto larger = [](float a, float b) {
    return bits_to_float(static_cast<std::uint32_t>(
        run("{ .reg .pred p; setp.geu.f32 p, $1, $2; selp.f32 $0, $1, $2, p; }", "=f,f,f",
            {float_to_bits(a), float_to_bits(b)})));
  };
  EXPECT_EQ(larger(1, 2), 2);
  EXPECT_EQ(larger(3, 2), 3);
  EXPECT_TRUE(std::isnan(larger(std::numeric_limits<float>::quiet_NaN(), 2)));
  EXPECT_EQ(run("{ .reg .pred p; setp.lt.s32 p, $1, 0; selp.b32 $0, 7, 9, p; }", "=r,r", {~0ull}),
            7u);
  EXPECT_EQ(run("{ .reg .pred p; setp.lt.u32 p, $1, 0; selp.b32 $0, 7, 9, p; }", "=r,r", {~0ull}),
            9u);
}

TEST(Assembly, WaitsForNoOtherLaunch) {
  EXPECT_EQ(run("griddepcontrol.wait; // dummy $0", "=r", {}), 0u);
}

TEST(Assembly, ApproximatesATanhNoBetterThanAGpu) {
  const float value = bits_to_float(
      static_cast<std::uint32_t>(run("tanh.approx.f32 $0, $1;", "=f,f", {float_to_bits(0.7f)})));
  EXPECT_NEAR(value, std::tanh(0.7f), 0.00002);
  EXPECT_NE(value, std::tanh(0.7f));
}

TEST(Assembly, RefusesWhatIsNoFunctionOfItsOperands) {
  EXPECT_THAT(refusal("mov.u32 $0, %clock;"), testing::HasSubstr("%clock is not known"));
  EXPECT_THAT(refusal("ld.global.b32 $0, [$1];"), testing::HasSubstr("is not known"));
  EXPECT_THAT(refusal("@p mov.b32 $0, $1;"), testing::HasSubstr("register p is not known"));
  EXPECT_THAT(refusal("@$1 mov.b32 $0, $1;"), testing::HasSubstr("must be declared"));
  EXPECT_THAT(refusal("bar.sync 0;"), testing::HasSubstr("is not known"));
  EXPECT_THAT(refusal("mov.b32 $0, $2;"), testing::HasSubstr("no operand $2"));
  EXPECT_THAT(refusal("mov.b32 $0, $1;", "=r,r,~{memory}"), testing::HasSubstr("~{memory}"));
  EXPECT_THAT(refusal("{ mov.b32 $0, $1; } }"), testing::HasSubstr("brace"));
  EXPECT_THAT(refusal("max.s32 $0, $1, $1;", "=r,r"), testing::HasSubstr("max.s32 is not known"));
}

}  // namespace
}  // namespace tritonsmith::gym::triton_ir
