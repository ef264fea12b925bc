#include "gym/plan/analysis/exact_at_halves.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

// A forward over two inputs, and the same computed for one element of each.
class Formula {
 public:
  Formula(double x, double y) : in_floats_{float(x), float(y)}, in_doubles_{x, y} {
    builder_.input(t(builder_.tensor({8}))).input(t(builder_.tensor({8})));
  }
  int apply(const std::string& name, int a) {
    return add(name, {t(a)}, [&](auto& values) {
      const auto v = values[static_cast<std::size_t>(a)];
      return name == "abs" ? std::abs(v) : name == "neg" ? -v : v > 0 ? v : 0 * v;
    });
  }
  int apply(const std::string& name, int a, double number) {
    return add(name + ".Tensor", {t(a), f(number)}, [&](auto& values) {
      auto v = values[static_cast<std::size_t>(a)];
      const auto n = static_cast<std::decay_t<decltype(v)>>(number);
      return name == "add" ? v + n : name == "sub" ? v - n : name == "mul" ? v * n : v / n;
    });
  }
  int combine(const std::string& name, int a, int b) {
    return add(name + ".Tensor", {t(a), t(b)}, [&](auto& values) {
      const auto v = values[static_cast<std::size_t>(a)], w = values[static_cast<std::size_t>(b)];
      return name == "add" ? v + w : name == "sub" ? v - w : v * w;
    });
  }
  const Plan& plan() const { return builder_.plan(); }
  float in_floats(int k) const { return in_floats_[static_cast<std::size_t>(k)]; }
  double in_doubles(int k) const { return in_doubles_[static_cast<std::size_t>(k)]; }
  void compare(int a, double bound) {
    const int made = builder_.tensor({8}, DType::boolean);
    builder_.aten(Phase::forward, "aten::ge.Scalar", {t(a), f(bound)}, {made}).returns(t(made));
  }

 private:
  template <typename Compute>
  int add(const std::string& name, std::vector<Value> args, Compute compute) {
    const int made = builder_.tensor({8});
    builder_.aten(Phase::forward, "aten::" + name, std::move(args), {made});
    in_floats_.push_back(compute(in_floats_));
    in_doubles_.push_back(compute(in_doubles_));
    return made;
  }
  PlanBuilder builder_{PlanRole::task};
  std::vector<float> in_floats_;
  std::vector<double> in_doubles_;
};

ExactAtHalves followed(const Plan& task) {
  ExactAtHalves at_halves(task);
  for (const PlanStep& step : task.steps) at_halves.follow(std::get<AtenCall>(step.action));
  return at_halves;
}

ForwardFacts facts_of_compared(double bound, const std::function<int(Formula&)>& compute) {
  Formula formula(0, 0);
  formula.compare(compute(formula), bound);
  return forward_facts(formula.plan());
}

TEST(ExactAtHalves, FindsTheInputsThatMeetABound) {
  const ForwardFacts moved =
      facts_of_compared(0.5, [](Formula& of) { return of.apply("sub", 0, 0.25); });
  EXPECT_TRUE(moved.jumps_at_halves);
  EXPECT_THAT(moved.meeting_numbers, ElementsAre(0.5, 0.75));
  const ForwardFacts scaled = facts_of_compared(
      2, [](Formula& of) { return of.apply("add", of.apply("mul", 0, 1.5), 0.5); });
  EXPECT_THAT(scaled.meeting_numbers, ElementsAre(2, 1));
  const ForwardFacts sized = facts_of_compared(1, [](Formula& of) { return of.apply("abs", 0); });
  EXPECT_THAT(sized.meeting_numbers, UnorderedElementsAre(1, -1));
}

TEST(ExactAtHalves, ProductsOfInputsMeetBoundsByThemselves) {
  EXPECT_TRUE(
      facts_of_compared(1, [](Formula& of) { return of.combine("mul", 0, 1); }).jumps_at_halves);
}

TEST(ExactAtHalves, InexactArithmeticMakesNoTies) {
  const ForwardFacts facts =
      facts_of_compared(0.5, [](Formula& of) { return of.apply("mul", 0, 0.1); });
  EXPECT_FALSE(facts.jumps_at_halves);
  EXPECT_FALSE(
      facts_of_compared(0.5, [](Formula& of) { return of.apply("sigmoid", 0); }).jumps_at_halves);
}

TEST(ExactAtHalves, ABoundOfManyDigitsIsMetByInputsAlone) {
  EXPECT_THAT(facts_of_compared(0.1, [](Formula&) { return 0; }).meeting_numbers, ElementsAre(0.1));
  EXPECT_TRUE(facts_of_compared(0.1, [](Formula& of) {
                return of.apply("abs", 0);
              }).meeting_numbers.empty());
}

TEST(ExactAtHalves, FindsTheInputsWhoseQuotientMeetsABound) {
  const ForwardFacts facts =
      facts_of_compared(0.5, [](Formula& of) { return of.apply("div", 0, 3); });
  EXPECT_TRUE(facts.jumps_at_halves);
  EXPECT_THAT(facts.meeting_numbers, UnorderedElementsAre(0.5, 1.5, -1.5));
}

// Where a quotient has few digits, a product with the rounded inverse equals it. So kernels that
// divide and kernels that multiply meet the same ties.
TEST(ExactAtHalves, AQuotientThatCountsIsTheProductWithTheInverse) {
  int counted = 0;
  for (int divisor = 2; divisor <= 64; ++divisor) {
    Formula formula(0, 0);
    if (!followed(formula.plan()).is_as_given(t(0))) FAIL();
    const int quotient = formula.apply("div", 0, divisor);
    if (!followed(formula.plan()).is_quotient(t(quotient))) continue;
    ++counted;
    for (int half = -128; half <= 128; ++half) {
      const float met = static_cast<float>(half) / 2, number = met * static_cast<float>(divisor);
      EXPECT_EQ(number / static_cast<float>(divisor), met) << divisor;
      EXPECT_EQ(number * (1 / static_cast<float>(divisor)), met) << divisor;
    }
  }
  EXPECT_GT(counted, 20);
}

// A few random steps at random halves: wherever they count as exact, single precision is.
TEST(ExactAtHalves, SinglePrecisionRoundsNothing) {
  static const std::vector<std::string> of_one = {"abs", "neg", "relu"};
  static const std::vector<std::string> with_number = {"add", "sub", "mul", "div"};
  static const std::vector<std::string> of_two = {"add", "sub", "mul"};
  static const std::vector<double> numbers = {0.25, -1.5, 3, 2, 0.5, 0.1, 7};
  rc::check("random arithmetic", [](std::uint64_t seed) {
    Rng rng(seed, "halves", 0);
    const auto half = [&] { return static_cast<double>(rng.below(41)) / 2 - 10; };
    const double x = half(), y = half();
    Formula formula(x, y);
    int last = 1;
    for (int step = 0; step < 3; ++step) {
      const auto any = [&] {
        return static_cast<int>(rng.below(static_cast<std::uint64_t>(last) + 1));
      };
      const int a = any(), b = any();
      const std::uint64_t kind = rng.below(3);
      last = kind == 0   ? formula.apply(of_one[rng.below(3)], a)
             : kind == 1 ? formula.apply(with_number[rng.below(4)], a, numbers[rng.below(7)])
                         : formula.combine(of_two[rng.below(3)], a, b);
    }
    const ExactAtHalves at_halves = followed(formula.plan());
    for (int k = 0; k <= last; ++k)
      if (at_halves.scale_of(t(k)))
        RC_ASSERT(static_cast<double>(formula.in_floats(k)) == formula.in_doubles(k));
  });
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
