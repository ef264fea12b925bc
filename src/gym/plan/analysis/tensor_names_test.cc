#include "gym/plan/analysis/tensor_names.h"

#include <gmock/gmock.h>

#include "gym/plan/testing/plan_builder.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using testing::ElementsAre;

// forward(x, states, mask) with states = [h, {"c": c}], which writes into a new tensor and returns
// (y, {"mask": mask}).
Plan plan_of_many() {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({16, 8}), h = builder.tensor({4}), c = builder.tensor({4}),
            mask = builder.tensor({8}), weight = builder.tensor({8, 8}),
            y = builder.tensor({16, 8}), scratch = builder.tensor({2, 3});
  builder.input(t(x))
      .input(Value{List{{t(h), Value{Dict{{{"c", t(c)}}}}}}})
      .input(t(mask))
      .parameter("fc1.weight", weight)
      .aten(Phase::init, "aten::empty.memory_format", {ints({8, 8})}, {weight})
      .aten(Phase::forward, "aten::empty.memory_format", {ints({16, 8})}, {y})
      .aten(Phase::forward, "aten::empty.memory_format", {ints({2, 3})}, {scratch})
      .returns(Value{Tuple{{t(y), Value{Dict{{{"mask", t(mask)}}}}}}});
  return builder.plan();
}

TEST(TensorNames, AreTheParametersOfForward) {
  Plan plan = plan_of_many();
  plan.input_names = {"x", "states", "mask"};
  EXPECT_THAT(input_names(plan), ElementsAre("`x`", "`states[0]`", "`states[1]['c']`", "`mask`"));
}

TEST(TensorNames, CountArgumentsFromOneWhereForwardHasNoNames) {
  Plan plan = plan_of_many();
  plan.input_names = {"x"};
  EXPECT_THAT(input_names(plan),
              ElementsAre("`x`", "`[0]` of argument 2", "`[1]['c']` of argument 2", "argument 3"));
}

TEST(TensorNames, LeadToAPartOfTheOutput) {
  EXPECT_THAT(output_names(plan_of_many()), ElementsAre("output[0]", "output[1]['mask']"));
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({4});
  EXPECT_THAT(output_names(builder.input(t(x)).returns(t(x)).plan()), ElementsAre("the output"));
}

TEST(TensorNames, FollowTheMemory) {
  PlanBuilder builder(PlanRole::candidate);
  const int x = builder.tensor({16, 8}), row = builder.view(x, {8}, {1}, 8);
  Plan plan = builder.input(t(x)).returns(t(row)).plan();
  plan.input_names = {"x"};
  EXPECT_EQ(TensorNames(plan).of(row), "`x`");
}

TEST(TensorNames, OfOtherTensorsSayWhereTheyAreMade) {
  Plan plan = plan_of_many();
  plan.input_names = {"x", "states", "mask"};
  TensorNames names(plan);
  EXPECT_EQ(names.of(4), "`fc1.weight`");
  EXPECT_EQ(names.of(5), "output[0]");
  EXPECT_EQ(names.of(6),
            fmt::format("the tensor of shape [2, 3] that line {} makes", plan.steps.back().line));
}

}  // namespace
}  // namespace tritonsmith::gym::plan::analysis
