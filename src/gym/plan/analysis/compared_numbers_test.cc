#include "gym/plan/analysis/compared_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr std::int64_t kClasses = 30000;

// A task that draws classes. `forward` adds its operators on the input.
template <typename Forward>
ComparedNumbers numbers_of(const Forward& forward) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({64}, DType::int64);
  task.aten(Phase::inputs, "aten::randint", {i(kClasses), ints({64})}, {x}).input(t(x));
  forward(task, x);
  return compared_numbers(task.plan(), input_draws(task.plan()).at(0));
}

bool holds(const std::vector<double>& numbers, double number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

TEST(ComparedNumbers, ANumberIsFoundBehindArithmetic) {
  const ComparedNumbers found = numbers_of([](PlanBuilder& task, int x) {
    const int twice = task.tensor({64}, DType::int64), more = task.tensor({64}, DType::int64),
              equal = task.tensor({64}, DType::boolean);
    task.aten(Phase::forward, "aten::mul.Tensor", {t(x), i(2)}, {twice})
        .aten(Phase::forward, "aten::add.Tensor", {t(twice), i(3)}, {more})
        .aten(Phase::forward, "aten::eq.Scalar", {t(more), i(2003)}, {equal});
  });
  EXPECT_EQ(found.met, std::vector<double>{1000});
}

TEST(ComparedNumbers, ABoundHasItsNeighboursBesideIt) {
  const ComparedNumbers found = numbers_of([](PlanBuilder& task, int x) {
    const int above = task.tensor({64}, DType::boolean);
    task.aten(Phase::forward, "aten::gt.Scalar", {t(x), i(29990)}, {above});
  });
  for (const double number : {29989, 29990, 29991}) EXPECT_TRUE(holds(found.met, number));
}

TEST(ComparedNumbers, TheNumbersOfASmallConstantAreFound) {
  const ComparedNumbers found = numbers_of([](PlanBuilder& task, int x) {
    const int listed = task.tensor({2}, DType::int64), made = task.tensor({2}, DType::int64),
              is_in = task.tensor({64}, DType::boolean);
    const std::vector<std::int64_t> numbers = {777, 20011};
    std::string bytes(2 * sizeof(std::int64_t), 0);
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    task.plan().steps.push_back({.action = ConstantStep{bytes, listed}});
    task.aten(Phase::forward, "aten::lift_fresh", {t(listed)}, {made})
        .aten(Phase::forward, "aten::isin.Tensor_Tensor", {t(x), t(made)}, {is_in});
  });
  EXPECT_EQ(found.met, (std::vector<double>{777, 20011}));
}

// A loss that ignores `number`. If `is_also_index`, the classes name rows as well.
ComparedNumbers of_loss(std::int64_t number, bool is_also_index) {
  return numbers_of([&](PlanBuilder& task, int x) {
    const int scores = task.tensor({64, kClasses}), loss = task.tensor({}),
              weight = task.tensor({}), rows = task.tensor({64, 4});
    task.input(t(scores)).aten(Phase::forward, "aten::nll_loss_forward",
                               {t(scores), t(x), Value{None{}}, i(1), i(number)}, {loss, weight});
    if (is_also_index) task.aten(Phase::forward, "aten::embedding", {t(scores), t(x)}, {rows});
  });
}

TEST(ComparedNumbers, OnlyALossMayGetANumberThatIsNoClass) {
  EXPECT_EQ(of_loss(4321, true).met, std::vector<double>{4321});
  EXPECT_TRUE(of_loss(4321, false).ignored.empty());
  EXPECT_EQ(of_loss(-1, false).ignored, std::vector<double>{-1});
  EXPECT_TRUE(of_loss(-1, true).ignored.empty());
  EXPECT_TRUE(of_loss(-100, false).ignored.empty()) << "the default says nothing about a task";
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
