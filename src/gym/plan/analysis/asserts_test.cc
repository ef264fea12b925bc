#include "gym/plan/analysis/asserts.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

TEST(Asserts, ProbabilitiesAreChecked) {
  PlanBuilder task(PlanRole::task);
  const int p = task.tensor({8}), y = task.tensor({8}), loss = task.tensor({});
  task.input(t(p)).input(t(y));
  task.aten(Phase::forward, "aten::binary_cross_entropy", {t(p), t(y)}, {loss}).returns(t(loss));
  EXPECT_TRUE(may_assert_on_gpu(task.plan()));
}

// Looks up a table at indices that `op` made from floating values.
bool lookup_may_assert(const std::string& op, DType dtype) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({8}), table = task.tensor({16, 4}), made = task.tensor({8}, dtype),
            indices = task.tensor({8}, dtype), y = task.tensor({8, 4});
  task.input(t(x)).input(t(table));
  task.aten(Phase::forward, op, {t(x)}, {made})
      .aten(Phase::forward, "aten::mul.Tensor", {t(made), i(2)}, {indices})
      .aten(Phase::forward, "aten::index_select", {t(table), i(0), t(indices)}, {y})
      .returns(t(y));
  return may_assert_on_gpu(task.plan());
}

TEST(Asserts, CalculatedIndicesAreChecked) {
  EXPECT_TRUE(lookup_may_assert("aten::_to_copy", DType::int64));
}

TEST(Asserts, IndicesFromASortAndMasksLieInRange) {
  EXPECT_FALSE(lookup_may_assert("aten::argsort", DType::int64));
  EXPECT_FALSE(lookup_may_assert("aten::gt.Scalar", DType::boolean));
}

TEST(Asserts, GivenIndicesStayInTheirRange) {
  PlanBuilder task(PlanRole::task);
  const int table = task.tensor({16, 4}), indices = task.tensor({8}, DType::int64),
            y = task.tensor({8, 4});
  task.input(t(table)).input(t(indices));
  task.aten(Phase::forward, "aten::embedding", {t(table), t(indices)}, {y}).returns(t(y));
  EXPECT_FALSE(may_assert_on_gpu(task.plan()));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
