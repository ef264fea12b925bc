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

}  // namespace
}  // namespace tritonsmith::gym::trial
