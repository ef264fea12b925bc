#include "gym/trial/perturb/bent_sizes.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <limits>

namespace tritonsmith::gym::trial {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

at::Tensor bent(const at::Tensor& table, std::uint64_t seed) {
  at::Tensor now = table.clone();
  bend_sizes(now, seed);
  return now;
}

// Rows that no generator drew: a grid, a table of cosines, distances, decays, bounds and levels.
std::vector<at::Tensor> tables() {
  const at::Tensor n = at::arange(16, at::kFloat);
  const at::Tensor apart = (n.unsqueeze(1) - n).abs();
  return {at::linspace(-1, 1, 32), at::linspace(0, 2, 256),     (n.unsqueeze(1) * 0.1).cos(),
          apart * -0.25,           (apart / -8).exp(),          at::tensor({0.1, 0.5, 0.9}),
          at::logspace(-4, 2, 30), at::tensor({-1.5, 0.0, 2.0})};
}

// Equal elements stay equal, and the signs of all differences stay. So do symmetry and repeated parts.
TEST(BentSizes, KeepOrderSignsZerosEqualElementsAndTheRange) {
  for (const at::Tensor& table : tables())
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const at::Tensor now = bent(table, seed), all = table.reshape({-1}), then = now.reshape({-1});
      EXPECT_TRUE(now.sign().equal(table.sign()));
      EXPECT_LE(now.abs().max().item<double>(), table.abs().max().item<double>() * (1 + 1e-6));
      const at::Tensor steps = (all.unsqueeze(1) - all).sign();
      EXPECT_TRUE((then.unsqueeze(1) - then).sign().equal(steps)) << table.sizes();
      EXPECT_TRUE(bent(table.neg(), seed).equal(now.neg()));
    }
}

// No tolerance hides the change, and no straight line gives it.
TEST(BentSizes, ElementsInTheMiddleMoveFar) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const at::Tensor table = at::linspace(0, 2, 257), now = bent(table, seed);
    const double middle = now[128].item<double>();
    EXPECT_GT(std::abs(middle - 1), 0.1);
    EXPECT_LT(std::abs(middle - 1), 0.4);
    EXPECT_FLOAT_EQ(now[256].item<float>(), 2);
  }
}

TEST(BentSizes, WholeNumbersStayWholeAndDistinct) {
  for (const at::Tensor& table : {at::arange(64, at::kFloat), at::tensor({0.F, 1.F, 2.F, 3.F}),
                                  at::tensor({-20.F, 10.F, 0.F, 40.F}),
                                  at::tensor({1.F, -2.F, 1.F}), at::tensor({-1.F, 0.F, 1.F})})
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const at::Tensor now = bent(table, seed);
      EXPECT_FALSE(now.equal(table));
      EXPECT_TRUE(now.equal(now.round()));
      EXPECT_TRUE((now.unsqueeze(1) - now).sign().equal((table.unsqueeze(1) - table).sign()));
      EXPECT_LE(now.abs().max().item<double>(), 3 * table.abs().max().item<double>());
    }
}

TEST(BentSizes, WhatHidesScoresStays) {
  for (const double mark : {-kEndless, -1e9, -10000.0}) {
    const at::Tensor table = at::tensor({0.0, -0.5, -1.0, -1.5, mark}, at::kFloat);
    const at::Tensor now = bent(table, 3);
    EXPECT_EQ(now[4].item<float>(), table[4].item<float>());
    EXPECT_EQ(now[0].item<float>(), 0);
    EXPECT_NE(now[2].item<float>(), -1);
  }
}

TEST(BentSizes, ATableWithoutNumbersStays) {
  EXPECT_TRUE(bent(at::zeros({4}), 1).equal(at::zeros({4})));
  const at::Tensor endless = at::tensor({0.0, kEndless, -kEndless});
  EXPECT_TRUE(bent(endless, 1).equal(endless));
}

}  // namespace
}  // namespace tritonsmith::gym::trial
