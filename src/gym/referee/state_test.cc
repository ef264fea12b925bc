// References whose forward leaves something behind, and those with several outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

const std::pair<std::string, Value> kWhole = {"dtype", Value{DType::int64}};

// forward is x * step, and step goes up by one.
PlanBuilder task_of_steps() {
  PlanBuilder task(PlanRole::task);
  const int step = task.tensor({kLength}, DType::int64), x = task.tensor({kLength}),
            y = task.tensor({kLength});
  task.aten(Phase::init, "aten::ones", {ints({kLength})}, {step}, {kWhole, kOnGpu})
      .parameter("step", step, ParameterKind::buffer)
      .aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::mul.Tensor", {t(x), t(step)}, {y})
      .aten(Phase::forward, "aten::add_.Scalar", {t(step), i(1)}, {step})
      .returns(t(y));
  return task;
}

enum class Steps { counted, known_by_another_name, absent };

// The kernel takes (x, y), or (x, y, step) where it has steps.
PlanBuilder candidate_of_steps(Steps steps) {
  PlanBuilder candidate(PlanRole::candidate);
  const int step = candidate.tensor({kLength}, DType::int64), x = candidate.tensor({kLength}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*i64"});
  candidate.aten(Phase::init, "aten::ones", {ints({kLength})}, {step}, {kWhole, kOnGpu});
  if (steps != Steps::absent)
    candidate.parameter(steps == Steps::counted ? "step" : "other", step, ParameterKind::buffer);
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(y), t(step)})
      .returns(t(y));
  if (steps != Steps::absent)
    candidate.aten(Phase::forward, "aten::add_.Scalar", {t(step), i(1)}, {step});
  return candidate;
}

LaunchOutcome times_step(std::span<const KernelArgument> arguments) {
  const auto* steps = reinterpret_cast<const std::int64_t*>(floats(arguments[2]));
  for (int k = 0; k < kLength; ++k)
    floats(arguments[1])[k] = floats(arguments[0])[k] * static_cast<float>(steps[k]);
  return {.loaded = {0, 2}, .stored = {1}};
}

LaunchOutcome times_one(std::span<const KernelArgument> arguments) {
  for (int k = 0; k < kLength; ++k) floats(arguments[1])[k] = floats(arguments[0])[k];
  return {.loaded = {0}, .stored = {1}};
}

RefereeReport judge(const PlanBuilder& task, const PlanBuilder& candidate,
                    FakeExecutor::Body body) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"});
}

TEST(State, OfTheFirstCallShowsInTheSecond) {
  const auto task = task_of_steps();
  for (const Steps steps : {Steps::counted, Steps::known_by_another_name})
    EXPECT_EQ(error_message(judge(task, candidate_of_steps(steps), times_step)), "");
  const RefereeReport report = judge(task, candidate_of_steps(Steps::counted), times_one);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("in the second call of forward"), std::string::npos);
}

TEST(State, ThatTheReferenceChangesTheCandidateMustHave) {
  const RefereeReport report =
      judge(task_of_steps(), candidate_of_steps(Steps::absent), times_step);
  EXPECT_EQ(error_class(report), "state_mismatch");
  EXPECT_NE(error_message(report).find("step"), std::string::npos);
}

// exp(x) is endless where 100 is added, and says nothing there.
TEST(Outputs, ThatOverflowExcuseNoOther) {
  PlanBuilder task(PlanRole::task), candidate(PlanRole::candidate);
  const int x = task.tensor({kLength}), e = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::randn", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::exp", {t(x)}, {e})
      .aten(Phase::forward, "aten::abs", {t(x)}, {y})
      .returns(Value{Tuple{{t(e), t(y)}}});
  for (int k = 0; k < 3; ++k) candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {e})
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y})
      .launch(kernel, {t(x), t(e), t(y)})
      .returns(Value{Tuple{{t(e), t(y)}}});
  const auto up_to = [](float most) {
    return [most](std::span<const KernelArgument> arguments) {
      for (int k = 0; k < kLength; ++k) {
        const float value = floats(arguments[0])[k];
        floats(arguments[1])[k] = std::exp(value);
        floats(arguments[2])[k] = std::min(std::abs(value), most);
      }
      return LaunchOutcome{.loaded = {0}, .stored = {1, 2}};
    };
  };
  EXPECT_EQ(error_message(judge(task, candidate, up_to(1e9F))), "");
  const RefereeReport report = judge(task, candidate, up_to(50));
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("output 1"), std::string::npos) << error_message(report);
}

}  // namespace
}  // namespace tritonsmith::gym
