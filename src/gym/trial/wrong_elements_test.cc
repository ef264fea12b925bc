#include "gym/trial/wrong_elements.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace tritonsmith::gym::trial {
namespace {

TEST(FewWrongElements, FindsThemAmongManyRightOnes) {
  const at::Tensor expected = at::arange(4096, at::kInt);
  at::Tensor got = expected.clone();
  got[7] = 8;
  got[4000] = 3999;
  const auto few = few_wrong_elements({got}, {expected}, {});
  ASSERT_EQ(few.size(), 1U);
  EXPECT_TRUE(at::equal(few[0].elements, at::tensor({7, 4000}, at::kLong)));
  EXPECT_TRUE(at::equal(few[0].values, at::tensor({8.0, 3999.0}, at::kDouble)));
}

TEST(FewWrongElements, NamesNoneWhereManyAreWrongOrTypesDiffer) {
  const at::Tensor expected = at::arange(4096, at::kInt);
  EXPECT_TRUE(few_wrong_elements({expected + expected.lt(65)}, {expected}, {}).empty());
  EXPECT_TRUE(few_wrong_elements({expected.to(at::kLong) + 1}, {expected}, {}).empty());
  EXPECT_TRUE(few_wrong_elements({expected}, {expected}, {}).empty());
  const at::Tensor one = at::ones({1}, at::kInt);
  EXPECT_TRUE(few_wrong_elements({one + 1}, {one}, {}).empty());
  const at::Tensor large = at::full({128}, std::int64_t{1} << 60, at::kLong);
  EXPECT_TRUE(
      few_wrong_elements({large.index_fill(0, at::zeros({1}, at::kLong), 1)}, {large}, {}).empty());
}

TEST(FewWrongElements, NamesManyOnlyWhereTheReferenceLosesDigits) {
  at::manual_seed(3);
  const at::Tensor exact = at::rand({4096}, at::kDouble), expected = exact.to(at::kFloat);
  const at::Tensor rough = (exact + 1e-3 * at::randn({4096}, at::kDouble)).to(at::kFloat);
  const at::Tensor got = expected + 5e-3;
  EXPECT_TRUE(few_wrong_elements({got}, {expected}, {}, {exact}).empty());
  EXPECT_TRUE(few_wrong_elements({got}, {rough}, {}).empty()) << "nothing exact is known";
  const auto many = few_wrong_elements({got}, {rough}, {}, {exact});
  ASSERT_EQ(many.size(), 1U);
  EXPECT_TRUE(many[0].is_many);
  EXPECT_TRUE(many[0].loses_digits);
  const at::Tensor none = at::full({7}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(few_wrong_elements({at::zeros({7})}, {none}, {}, {none.to(at::kDouble)}).empty());
  const auto few = few_wrong_elements({rough + rough.lt(1e-2)}, {rough}, {}, {exact});
  ASSERT_EQ(few.size(), 1U);
  EXPECT_FALSE(few[0].is_many);
  EXPECT_TRUE(few[0].loses_digits);
}

}  // namespace
}  // namespace tritonsmith::gym::trial
