#include "gym/trial/perturb/large_rows.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gym/trial/perturb/patterns.h"

namespace tritonsmith::gym::trial {
namespace {

at::Tensor enlarged(const std::vector<double>& bounds, at::Tensor tensor, std::uint64_t seed) {
  const std::vector<double> factors = factors_past(bounds, tensor.size(-1), 1e12);
  apply_pattern({.seed = seed, .pattern = device::pattern::LargeRows{factors}}, tensor);
  return tensor;
}

// For each reduction some rows lie on each side of the bound.
TEST(LargeRows, ReducedValuesPassTheBoundOnBothSides) {
  for (const double bound : {200.0, 5000.0, 60000.0})
    for (const std::int64_t length : {16, 256, 1000})
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        at::manual_seed(seed);
        const at::Tensor rows = enlarged({bound}, at::randn({64, length}), seed);
        for (const at::Tensor& reduced :
             {rows.norm(2, 1), rows.sum(1), rows.mean(1), rows.amax(1), -rows.sum(1)}) {
          EXPECT_TRUE(reduced.gt(bound).any().item<bool>()) << bound << " " << length;
          EXPECT_TRUE(reduced.lt(bound).any().item<bool>()) << bound << " " << length;
        }
      }
}

TEST(LargeRows, ASingleRowPassesTheBound) {
  EXPECT_GT(enlarged({5000}, at::ones({64}), 1).min().item<float>(), 5000);
}

TEST(LargeRows, NoFactorExceedsWhatATypeHolds) {
  for (const double factor : factors_past(std::vector<double>{5000, 60000}, 64, 4096)) {
    EXPECT_LE(factor, 4096);
    EXPECT_GT(factor, 1);
  }
  EXPECT_TRUE(factors_past({}, 64, 4096).empty());
}

}  // namespace
}  // namespace tritonsmith::gym::trial
