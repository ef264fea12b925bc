#include "gym/compare/tolerance_rules.h"

#include <gtest/gtest.h>

#include "gym/compare/compare.h"

namespace tritonsmith::gym::compare {
namespace {

TEST(ToleranceRules, GiveEachDtypeItsTolerance) {
  EXPECT_EQ(tolerance_of(at::kDouble).value, 1e-9);
  EXPECT_EQ(tolerance_of(at::kComplexFloat).value, 1e-4);
  EXPECT_EQ(tolerance_of(at::kHalf).value, 1e-2);
  EXPECT_EQ(tolerance_of(at::kBFloat16).value, 1e-2);
  EXPECT_EQ(tolerance_of(c10::ScalarType::Float8_e5m2).value, 1e-1);
  for (const auto dtype : {at::kLong, at::kBool, at::kByte}) {
    EXPECT_EQ(tolerance_of(dtype).value, 0);
    EXPECT_EQ(tolerance_of(dtype).widest, Precision::exact);
  }
}

TEST(ToleranceRules, TheCoarsestDtypeOfATaskDecides) {
  const Tolerance widest = wider_of(tolerance_of(at::kHalf), tolerance_of(at::kFloat));
  EXPECT_EQ(widest.value, 1e-2);
  EXPECT_EQ(widest.widest, Precision::bits_16);
  EXPECT_EQ(wider_of(tolerance_of(at::kLong), tolerance_of(at::kDouble)).value, 1e-9);
}

TEST(ToleranceRules, ATaskTightensTheValueAndKeepsThePrecision) {
  const Tolerance half = tolerance_of(at::kHalf);
  EXPECT_EQ(tightened(half, 5e-3).value, 5e-3);
  EXPECT_EQ(tightened(half, 5e-3).widest, Precision::bits_16);
  EXPECT_EQ(tightened(half, 1.0).value, 1e-2) << "a task loosens nothing";
  EXPECT_EQ(tightened(half, std::nullopt).value, 1e-2);
}

TEST(ToleranceRules, KeepToTheBudgetOfTheDocs) {
  EXPECT_DOUBLE_EQ(kToleranceRules.budget_slack(1e-4, 2, 1e-6), 1e-4 * (2 + 0.005) + 32e-6);
  EXPECT_EQ(kToleranceRules.usable_share_of(Precision::bits_32), 0.1);
  EXPECT_EQ(kToleranceRules.usable_share_of(Precision::bits_16), 2);
  EXPECT_EQ(kToleranceRules.usable_share_of(Precision::bits_8), 2);
}

}  // namespace
}  // namespace tritonsmith::gym::compare
