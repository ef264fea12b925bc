#include "gym/compare/order_ties.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tritonsmith::gym::compare {
namespace {

const at::Tensor kRanked = at::tensor({0.5F, 0.0F, 0.0F, 0.25F, 0.0F}).view({1, 5});

at::Tensor row(std::initializer_list<std::int64_t> indices) {
  return at::tensor(at::ArrayRef<std::int64_t>(indices), at::kLong).view({1, -1});
}

bool all_equal(const at::Tensor& got) {
  return names_equal_numbers(got, row({0, 3, 1, 2}), kRanked, 1).all().item<bool>();
}

TEST(OrderTies, EqualNumbersHaveNoOrder) {
  EXPECT_TRUE(all_equal(row({0, 3, 1, 2})));
  EXPECT_TRUE(all_equal(row({0, 3, 4, 1})));
  EXPECT_TRUE(all_equal(row({0, 3, 2, 4}).to(at::kInt)));
}

TEST(OrderTies, OtherNumbersAndRepeatedOnesAreWrong) {
  EXPECT_FALSE(all_equal(row({3, 0, 1, 2}))) << "another number comes first";
  EXPECT_FALSE(all_equal(row({0, 3, 1, 1}))) << "an index twice";
  EXPECT_FALSE(all_equal(row({0, 3, 1, 5}))) << "no such number";
  EXPECT_FALSE(all_equal(row({0, 3, 1, -1})));
}

// The property behind both: any order of equal numbers is as good as PyTorch's.
TEST(OrderTies, EachSortOfTiedNumbersIsRight) {
  at::manual_seed(3);
  for (int k = 0; k < 20; ++k) {
    const at::Tensor tied = at::randint(4, {6, 40}, at::kFloat);
    const at::Tensor first = tied.argsort(/*stable=*/true, 1, false);
    const at::Tensor last = 39 - tied.flip(1).argsort(/*stable=*/true, 1, false);
    EXPECT_FALSE(at::equal(first, last));
    EXPECT_TRUE(names_equal_numbers(last, first, tied, 1).all().item<bool>());
  }
}

}  // namespace
}  // namespace tritonsmith::gym::compare
