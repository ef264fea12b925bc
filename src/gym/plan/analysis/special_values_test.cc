#include "gym/plan/analysis/special_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();
constexpr double kLargest = std::numeric_limits<float>::max();

bool has_nan(const ForwardFacts& facts) {
  return std::ranges::any_of(facts.specials, [](double number) { return std::isnan(number); });
}

// Builds tasks that apply one operator to their inputs x and y, and returns what is found of them.
class OneOperator {
 public:
  explicit OneOperator(DType dtype = DType::float32) : dtype_(dtype), x_(tensor()), y_(tensor()) {
    task_.input(t(x_)).input(t(y_));
  }
  int x() const { return x_; }
  int y() const { return y_; }
  int after(const std::string& op, std::vector<Value> args, DType dtype) {
    const int made = task_.tensor({4, 8}, dtype);
    task_.aten(Phase::forward, op, std::move(args), {made});
    return made;
  }
  int after(const std::string& op, std::vector<Value> args) {
    return after(op, std::move(args), dtype_);
  }
  int truth(const std::string& op, std::vector<Value> args) {
    return after(op, std::move(args), DType::boolean);
  }
  ForwardFacts facts() { return forward_facts(task_.plan()); }

 private:
  int tensor() { return task_.tensor({4, 8}, dtype_); }
  PlanBuilder task_{PlanRole::task};
  DType dtype_;
  int x_, y_;
};

TEST(SpecialValues, AComparisonWithTheLargestNumberAsksForThem) {
  for (const double bound : {kEndless, -kEndless, kLargest, 3.4e38, 1e38})
    for (const bool by_size : {false, true}) {
      OneOperator task;
      const int compared = by_size ? task.after("aten::abs", {t(task.x())}) : task.x();
      task.truth("aten::le.Scalar", {t(compared), f(bound)});
      EXPECT_TRUE(has_nan(task.facts())) << bound;
    }
  for (const double bound : {0.0, 6.0, 1e9, -1e30}) {
    OneOperator task;
    task.truth("aten::le.Scalar", {t(task.x()), f(bound)});
    EXPECT_TRUE(task.facts().specials.empty()) << bound;
  }
}

TEST(SpecialValues, TheLargestNumberIsThatOfTheType) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64})
    for (const double bound : {65504.0, kLargest, std::numeric_limits<double>::max()}) {
      OneOperator task(dtype);
      task.truth("aten::lt.Scalar", {t(task.x()), f(bound)});
      const double largest = dtype == DType::float16   ? 65504
                             : dtype == DType::float64 ? std::numeric_limits<double>::max()
                                                       : kLargest;
      EXPECT_EQ(has_nan(task.facts()), bound >= largest);
    }
}

// A product with 0 is a usual way to make zeros.
TEST(SpecialValues, AZeroOfAllFiniteNumbersAsksWhereItIsCompared) {
  for (const bool is_product : {false, true})
    for (const bool is_compared : {false, true}) {
      OneOperator task;
      const int zero = is_product ? task.after("aten::mul.Tensor", {t(task.x()), i(0)})
                                  : task.after("aten::sub.Tensor", {t(task.x()), t(task.x())});
      if (is_compared)
        task.truth("aten::eq.Scalar", {t(task.after("aten::abs", {t(zero)})), i(0)});
      else
        task.after("aten::add.Tensor", {t(zero), t(task.y())});
      EXPECT_EQ(has_nan(task.facts()), is_compared);
    }
}

TEST(SpecialValues, AComparisonWithItselfAsks) {
  OneOperator task;
  task.truth("aten::ne.Tensor", {t(task.x()), t(task.x())});
  EXPECT_TRUE(has_nan(task.facts()));
  OneOperator other;
  other.truth("aten::ne.Tensor", {t(other.x()), t(other.y())});
  EXPECT_TRUE(other.facts().specials.empty());
}

// Scores hide keys behind infinities, and a kernel that skips them never meets their values.
TEST(SpecialValues, ABoundOfAProductOfMatricesAsksNothing) {
  OneOperator task;
  const int product = task.after("aten::mm", {t(task.x()), t(task.y())});
  task.truth("aten::eq.Scalar", {t(product), f(-kEndless)});
  EXPECT_TRUE(task.facts().specials.empty());
}

TEST(SpecialValues, AClampAtTheLargestNumberMeetsInfinitiesAlone) {
  for (const double bound : {kLargest, kEndless}) {
    OneOperator task;
    task.after("aten::clamp", {t(task.x()), f(-bound), f(bound)});
    EXPECT_EQ(task.facts().specials.size(), std::isinf(bound) ? 0 : 2);
    EXPECT_FALSE(has_nan(task.facts()));
  }
  OneOperator summed;  // two of the largest numbers have no sum
  summed.after("aten::sum", {t(summed.after("aten::clamp", {t(summed.x()), f(-kLargest)}))});
  EXPECT_TRUE(summed.facts().specials.empty());
}

TEST(SpecialValues, OperatorsWhoseDefinitionNamesNanAsk) {
  for (const std::string op : {"isclose", "nanmedian", "fmax", "nansum", "nan_to_num", "isinf"}) {
    OneOperator task;
    task.after("aten::" + op, {t(task.x()), t(task.y())});
    EXPECT_TRUE(has_nan(task.facts())) << op;
  }
}

TEST(ZeroSigns, AreThoseOfTheInputsThatTheOperatorReads) {
  for (const std::string op : {"copysign.Tensor", "atan2"}) {
    OneOperator task;
    const int less = task.after("aten::mul.Tensor", {t(task.y()), f(0.5)});
    const int sum = task.after("aten::add.Tensor", {t(task.x()), f(1)});
    task.after("aten::" + op, {t(sum), t(less)});
    EXPECT_EQ(task.facts().zero_signs, std::set<int>{task.y()}) << op;
    OneOperator opposite;
    opposite.after("aten::" + op, {t(opposite.after("aten::neg", {t(opposite.x())})), f(1)});
    EXPECT_TRUE(opposite.facts().zero_signs.empty()) << op;
  }
  OneOperator plain;
  plain.after("aten::maximum", {t(plain.x()), t(plain.y())});
  EXPECT_TRUE(plain.facts().zero_signs.empty());
}

TEST(ZeroSigns, AQuotientTellsThemWhereABoundFollows) {
  for (const bool has_bound : {false, true}) {
    OneOperator task;
    const int inverse = task.after("aten::reciprocal", {t(task.x())});
    const int scaled = task.after("aten::mul.Tensor", {t(inverse), f(3)});
    if (has_bound) task.after("aten::clamp", {t(scaled), f(-50), f(50)});
    EXPECT_EQ(task.facts().zero_signs.empty(), !has_bound);
  }
}

// A code of eight bits clamps the quotient, as a rule. Infinity itself is no whole number.
TEST(ZeroSigns, AQuotientThatBecomesAWholeNumberTellsThemBehindAClampAlone) {
  for (const bool is_clamped : {false, true}) {
    OneOperator task;
    const int quotient = task.after("aten::div.Tensor", {t(task.x()), t(task.y())});
    const int rounded = task.after("aten::round", {t(quotient)});
    const int clamped = task.after("aten::clamp", {t(rounded), f(-128), f(127)});
    task.after("aten::_to_copy", {t(is_clamped ? clamped : rounded)}, DType::int8);
    EXPECT_EQ(task.facts().zero_signs.empty(), !is_clamped);
  }
}

// 0 / 0 is NaN, which a maximum in Triton does not pass on.
TEST(ZeroSigns, NeitherAQuotientOfTheSameInputNorAShiftedDivisorTellsThem) {
  for (const bool is_same : {false, true}) {
    OneOperator task;
    const int sine = task.after("aten::sin", {t(task.x())});
    const int divisor = is_same ? task.x() : task.after("aten::add.Tensor", {t(task.x()), f(1)});
    const int quotient = task.after("aten::div.Tensor", {t(is_same ? sine : task.y()), t(divisor)});
    task.after("aten::clamp", {t(quotient), f(-1), f(1)});
    EXPECT_TRUE(task.facts().zero_signs.empty());
  }
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
