#include "gym/plan/analysis/drawn_constants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/rng.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr int kRows = 16, kColumns = 64;
using Element = std::function<double(int row, int column)>;

Plan task_with(const Element& element, DType dtype = DType::float32) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kRows, kColumns}, dtype);
  task.input(t(x)).returns(t(x));
  Plan plan = task.plan();
  std::string bytes;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      const double value = element(row, column);
      const auto narrow = static_cast<float>(value);
      if (dtype == DType::float64)
        bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
      else
        bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
    }
  plan.steps.push_back({.phase = Phase::inputs, .action = ConstantStep{bytes, x}});
  return plan;
}

// The operator that stands for the constant, or nothing.
std::string drawn_by(const Plan& task) {
  const Plan drawn = with_drawn_constants(task);
  const auto* call = std::get_if<AtenCall>(&drawn.steps[0].action);
  return call == nullptr ? "" : call->op;
}

double normal(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(6.283185307179586 * rng.uniform());
}

TEST(DrawnConstants, AreFoundByTheirDistribution) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Rng rng(seed, "numbers", 0);
    EXPECT_EQ(drawn_by(task_with([&](int, int) { return normal(rng); })), "aten::randn") << seed;
    EXPECT_EQ(drawn_by(task_with([&](int, int) { return rng.uniform(); }, DType::float64)),
              "aten::rand")
        << seed;
  }
}

TEST(DrawnConstants, AreNotTakenFromWhatHasStructure) {
  Rng rng(1, "numbers", 0);
  std::vector<double> sorted(kRows * kColumns);
  std::ranges::generate(sorted, [&] { return normal(rng); });
  std::ranges::sort(sorted);
  const std::vector<std::pair<std::string, Element>> all = {
      {"sorted", [&](int i, int k) { return sorted[static_cast<std::size_t>(i * kColumns + k)]; }},
      {"linspace", [](int i, int k) { return (i * kColumns + k) / 512.0 - 1; }},
      {"angles", [](int i, int k) { return std::sin(i * std::pow(10000.0, -k / 64.0)); }},
      {"waves", [](int i, int k) { return 1.4 * std::sin(0.3 * k + i); }},
      {"one value", [](int, int) { return 1.0; }},
      {"a mask", [&](int, int) { return rng.below(2) == 0 ? 1.0 : -1.0; }},
      {"far from 0", [&](int, int) { return 5 + normal(rng); }},
      {"positive", [&](int, int) { return std::abs(normal(rng)); }},
      {"sums", [&](int i, int k) { return k == 0 ? i : normal(rng) + i; }}};
  for (const auto& [name, element] : all) EXPECT_EQ(drawn_by(task_with(element)), "") << name;
}

TEST(DrawnConstants, AreNotTakenFromRowsOfOneLength) {
  Rng rng(1, "numbers", 0);
  std::vector<double> row(kColumns);
  const auto unit = [&](int, int column) {
    if (column == 0) {
      double squares = 0;
      for (double& each : row) {
        each = normal(rng);
        squares += each * each;
      }
      for (double& each : row) each *= 8 / std::sqrt(squares);
    }
    return row[static_cast<std::size_t>(column)];
  };
  EXPECT_EQ(drawn_by(task_with(unit)), "");
}

TEST(DrawnConstants, StayWhereThePlanHoldsForTheirValuesAlone) {
  Rng rng(1, "numbers", 0);
  Plan task = task_with([&](int, int) { return normal(rng); });
  task.read_inputs = {0};
  EXPECT_EQ(with_drawn_constants(task), task);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
