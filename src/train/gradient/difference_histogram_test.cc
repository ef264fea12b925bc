#include "train/gradient/difference_histogram.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tritonsmith::train {
namespace {

TEST(DifferenceHistogram, KnowsTheQuantilesOfWhatWasAddedInParts) {
  DifferenceHistogram all;
  // 1e-4 .. 1e-1, evenly by logarithm: the median is 10^-2.5.
  const at::Tensor differences = at::pow(10.0, at::linspace(-4, -1, 3001));
  for (const at::Tensor& part : differences.split(700)) all.add(part);
  EXPECT_NEAR(all.quantile(0.5), 3.16e-3, 6e-4);
  EXPECT_NEAR(all.quantile(0.95), 7.08e-2, 1.3e-2);
  EXPECT_EQ(all.counts().sum().item<double>(), 3001);
  const DifferenceHistogram twice(all.counts() * 2);
  EXPECT_EQ(twice.quantile(0.95), all.quantile(0.95));
}

TEST(DifferenceHistogram, TellsNoDifferenceFromASmallOne) {
  DifferenceHistogram none;
  EXPECT_EQ(none.quantile(0.5), 0);
  none.add(at::tensor({0.0, 0.0, 1e-5, 50.0}));
  EXPECT_EQ(none.quantile(0.5), 0);
  EXPECT_NEAR(none.quantile(0.75), 1e-5, 2e-6);
  EXPECT_NEAR(none.quantile(1), 10, 2);
}

}  // namespace
}  // namespace tritonsmith::train
