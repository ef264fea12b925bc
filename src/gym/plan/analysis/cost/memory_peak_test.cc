#include "gym/plan/analysis/cost/memory_peak.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr double kSize = 4.0 * 100;

TEST(MemoryPeak, CountsWhatIsAliveAtOnce) {
  PlanBuilder task{PlanRole::task};
  const int x = task.tensor({100});
  task.aten(Phase::inputs, "aten::randn", {ints({100})}, {x}).input(t(x));
  int last = x;
  for (int i = 0; i < 5; ++i) {
    const int made = task.tensor({100});
    task.aten(Phase::forward, "aten::relu", {t(last)}, {made});
    last = made;
  }
  task.returns(t(last));
  EXPECT_EQ(peak_bytes(task.plan()), 3 * kSize) << "the input, and two neighbours of the chain";
}

TEST(MemoryPeak, KeepsWhatIsUsedLater) {
  PlanBuilder task{PlanRole::task};
  const int x = task.tensor({100}), a = task.tensor({100}), b = task.tensor({100}),
            c = task.tensor({100});
  task.aten(Phase::inputs, "aten::randn", {ints({100})}, {x}).input(t(x));
  task.aten(Phase::forward, "aten::relu", {t(x)}, {a});
  task.aten(Phase::forward, "aten::exp", {t(x)}, {b});
  task.aten(Phase::forward, "aten::add.Tensor", {t(a), t(b)}, {c});
  task.returns(t(c));
  EXPECT_EQ(peak_bytes(task.plan()), 4 * kSize);
}

TEST(MemoryPeak, KeepsWhatTheConstructorMade) {
  PlanBuilder task{PlanRole::task};
  const int table = task.tensor({100}), x = task.tensor({100}), y = task.tensor({100}),
            z = task.tensor({100});
  task.aten(Phase::init, "aten::ones", {ints({100})}, {table});
  task.aten(Phase::inputs, "aten::randn", {ints({100})}, {x}).input(t(x));
  task.aten(Phase::forward, "aten::add.Tensor", {t(x), t(table)}, {y});
  task.aten(Phase::forward, "aten::relu", {t(y)}, {z});
  task.returns(t(z));
  EXPECT_EQ(peak_bytes(task.plan()), 4 * kSize) << "the table is no parameter, and stays";
}

TEST(MemoryPeak, CountsAViewOnce) {
  PlanBuilder task{PlanRole::task};
  const int x = task.tensor({100});
  task.aten(Phase::inputs, "aten::randn", {ints({100})}, {x}).input(t(x));
  task.returns(t(task.view(x, {10, 10}, {10, 1})));
  EXPECT_EQ(peak_bytes(task.plan()), kSize);
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
