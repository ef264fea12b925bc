#include "gym/plan/faults/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gym/plan/faults/variants.h"
#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::faults {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kRows = 16, kColumns = 16;

// y = softmax(layer_norm(x, weight, bias) * 0.5), and the mask is another input.
PlanBuilder task() {
  PlanBuilder task(PlanRole::task);
  const int weight = task.tensor({kColumns}), bias = task.tensor({kColumns});
  const int x = task.tensor({kRows, kColumns}), normal = task.tensor({kRows, kColumns}),
            mean = task.tensor({kRows, 1}), scale = task.tensor({kRows, 1}),
            half = task.tensor({kRows, kColumns}), y = task.tensor({kRows, kColumns});
  task.aten(Phase::init, "aten::ones", {ints({kColumns})}, {weight})
      .aten(Phase::init, "aten::zeros", {ints({kColumns})}, {bias})
      .aten(Phase::inputs, "aten::randn", {ints({kRows, kColumns})}, {x})
      .input(t(x))
      .parameter("norm.weight", weight)
      .parameter("norm.bias", bias)
      .aten(Phase::forward, "aten::native_layer_norm",
            {t(x), ints({kColumns}), t(weight), t(bias), f(1e-5)}, {normal, mean, scale})
      .aten(Phase::forward, "aten::mul.Tensor", {t(normal), f(0.5)}, {half})
      .aten(Phase::forward, "aten::_softmax", {t(half), i(-1), Value{false}}, {y})
      .returns(t(y));
  return task;
}

std::vector<std::string> sentences(const std::vector<Fault>& faults) {
  std::vector<std::string> all;
  for (const Fault& fault : faults) all.push_back(fault.what);
  return all;
}

TEST(Faults, SayInOneSentenceWhatAKernelDoesOtherwise) {
  const auto all = sentences(faults_of(task().plan(), 1000));
  for (const char* text :
       {"argument 1 taken for zeros", "`norm.weight` taken for ones",
        "`layer_norm` of line 13: epsilon 1e-05 left out", "`mul` of line 14 left out",
        "`mul` of line 14: the factor 0.5 left out",
        "`layer_norm` of line 13: an eighth of the range is not read for the statistics",
        "`softmax` of line 15: only the first half of the range is read for the sum",
        "`softmax` of line 15: the maximum is not taken off",
        "`softmax` of line 15: along dimension 0 instead of 1",
        "`mul` of line 14: its result rounded to bfloat16"})
    EXPECT_THAT(all, Contains(text));
}

TEST(Faults, AreSoundPlansThatDifferFromTheTasks) {
  const Plan plan = task().plan();
  for (const Fault& fault : faults_of(plan, 1000)) {
    const Plan faulty = with_fault(plan, fault);
    const Status sound = check_plan(faulty);
    EXPECT_TRUE(sound) << fault.what << ": " << sound.error().message;
    EXPECT_FALSE(faulty == plan) << fault.what;
    EXPECT_EQ(faulty.parameters, plan.parameters) << fault.what;
  }
}

TEST(Faults, AreChosenEvenlyAndAlwaysTheSame) {
  const Plan plan = task().plan();
  const auto all = sentences(faults_of(plan, 1000)), few = sentences(faults_of(plan, 7));
  ASSERT_EQ(few.size(), 7U);
  EXPECT_EQ(few, sentences(faults_of(plan, 7)));
  for (std::size_t k = 0; k < few.size(); ++k) EXPECT_EQ(few[k], all[k * all.size() / 7]);
}

TEST(Faults, DoNotTouchWhatForwardDoesNotRead) {
  PlanBuilder with_unused = task();
  const int unused = with_unused.tensor({4});
  with_unused.input(t(unused));
  EXPECT_THAT(sentences(faults_of(with_unused.plan(), 1000)),
              Not(Contains(HasSubstr("argument 2"))));
}

TEST(Faults, LeaveOutAnOperatorInPlaceByCopyingWhatItFound) {
  PlanBuilder in_place(PlanRole::task);
  const int x = in_place.tensor({4});
  in_place.aten(Phase::inputs, "aten::randn", {ints({4})}, {x})
      .input(t(x))
      .aten(Phase::forward, "aten::relu_", {t(x)}, {x})
      .returns(t(x));
  const auto faults = faults_of(in_place.plan(), 100);
  const auto left_out = std::ranges::find(faults, FaultKind::left_out, &Fault::kind);
  ASSERT_NE(left_out, faults.end());
  const Plan faulty = with_fault(in_place.plan(), *left_out);
  EXPECT_TRUE(check_plan(faulty));
  std::vector<std::string> ops;
  for (const PlanStep& step : faulty.steps) ops.push_back(std::get<AtenCall>(step.action).op);
  EXPECT_EQ(ops, (std::vector<std::string>{"aten::clone", "aten::relu_", "aten::copy_"}));
}

// y = bias + a b for two pairs of square matrices.
PlanBuilder sums_of_products() {
  PlanBuilder task(PlanRole::task);
  const std::vector<std::int64_t> shape = {2, 8, 8};
  const int bias = task.tensor(shape), a = task.tensor(shape), b = task.tensor(shape),
            y = task.tensor(shape);
  for (const int input : {bias, a, b})
    task.aten(Phase::inputs, "aten::randn", {ints(shape)}, {input}).input(t(input));
  task.aten(Phase::forward, "aten::baddbmm", {t(bias), t(a), t(b)}, {y}).returns(t(y));
  return task;
}

TEST(Faults, OfEveryProductTransposeItsFactorsAndRoundThem) {
  const Plan plan = sums_of_products().plan();
  const auto all = faults_of(plan, 1000);
  for (const char* how : {"its first factor transposed", "its second factor transposed",
                          "its factors rounded to 10 bits, as TF32 does"})
    EXPECT_THAT(sentences(all), Contains(HasSubstr(how)));
  for (const Fault& fault : all) {
    const Status sound = check_plan(with_fault(plan, fault));
    EXPECT_TRUE(sound) << fault.what << ": " << sound.error().message;
  }
}

TEST(Faults, OfATaskWithoutForwardAreNone) {
  PlanBuilder unplanned(PlanRole::task);
  const int x = unplanned.tensor({4});
  unplanned.aten(Phase::inputs, "aten::randn", {ints({4})}, {x}).input(t(x));
  EXPECT_TRUE(faults_of(unplanned.plan(), 100).empty());
  EXPECT_TRUE(variants_of(unplanned.plan(), 100).empty());
}

TEST(Variants, SumTheProductsOfABatchInTiles) {
  const auto variants = variants_of(sums_of_products().plan(), 100);
  const auto tiled = std::ranges::find_if(variants, [](const Variant& variant) {
    return variant.what.ends_with("summed in two tiles");
  });
  ASSERT_NE(tiled, variants.end());
  EXPECT_TRUE(check_plan(tiled->plan));
  std::vector<std::string> ops;
  for (const PlanStep& step : tiled->plan.steps)
    if (step.phase == Phase::forward) ops.push_back(std::get<AtenCall>(step.action).op);
  EXPECT_EQ(std::ranges::count(ops, "aten::bmm"), 2);
}

TEST(Variants, AreSoundPlans) {
  const auto variants = variants_of(task().plan(), 100);
  ASSERT_GE(variants.size(), 3U);
  for (const Variant& variant : variants) {
    const Status sound = check_plan(variant.plan);
    EXPECT_TRUE(sound) << variant.what << ": " << sound.error().message;
  }
}

}  // namespace
}  // namespace tritonsmith::gym::plan::faults
