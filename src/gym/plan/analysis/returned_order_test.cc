#include "gym/plan/analysis/returned_order.h"

#include <gtest/gtest.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using Orders = std::vector<ReturnedOrder>;

// Returns the orders of a forward that puts the exponentials of its input in order.
Orders orders_after(const std::string& op, const std::vector<Value>& more, bool casts = false,
                    std::vector<std::pair<std::string, Value>> kwargs = {}) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({4, 8}), p = task.tensor({4, 8}), values = task.tensor({4, 2}),
            indices = task.tensor({4, 2}, DType::int64), cast = task.tensor({4, 2}, DType::int32);
  std::vector<Value> arguments = {t(p)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const bool has_values = op != "aten::argsort";
  task.input(t(x))
      .aten(Phase::forward, "aten::exp", {t(x)}, {p})
      .aten(Phase::forward, op, arguments,
            has_values ? std::vector{values, indices} : std::vector{indices}, std::move(kwargs));
  if (casts) task.aten(Phase::forward, "aten::_to_copy", {t(indices)}, {cast});
  return returned_orders(task.returns(t(casts ? cast : indices)).plan());
}

TEST(ReturnedOrders, AreThoseOfATopKAndOfSorts) {
  const Orders topk = orders_after("aten::topk", {i(2), i(1)});
  ASSERT_EQ(topk.size(), 1U);
  EXPECT_EQ(topk[0].ranked, 1);
  EXPECT_EQ(topk[0].dimension, 1);
  EXPECT_EQ(orders_after("aten::sort", {i(0)}).at(0).dimension, 0);
  EXPECT_EQ(orders_after("aten::argsort", {}).at(0).dimension, -1);
  EXPECT_EQ(orders_after("aten::topk", {i(2)}, true).at(0).output, 4) << "a cast keeps indices";
}

TEST(ReturnedOrders, LeaveOutWhatPromisesAnOrder) {
  EXPECT_TRUE(orders_after("aten::sort.stable", {}, false, {{"stable", Value{true}}}).empty());
  EXPECT_TRUE(orders_after("aten::max.dim", {i(1)}).empty()) << "the first of equal numbers";
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
