// Tests references whose forward leaves something behind, and references with several outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

const std::pair<std::string, plan::Value> kWhole = {"dtype", plan::Value{plan::DType::int64}};

// The task's forward is x * step, and each call adds one to step.
plan::PlanBuilder task_of_steps() {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int step = task.tensor({language::kLength}, plan::DType::int64),
            x = task.tensor({language::kLength}), y = task.tensor({language::kLength});
  task.aten(plan::Phase::init, "aten::ones", {plan::ints({language::kLength})}, {step},
            {kWhole, language::kOnGpu})
      .parameter("step", step, plan::ParameterKind::buffer)
      .aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::mul.Tensor", {plan::t(x), plan::t(step)}, {y})
      .aten(plan::Phase::forward, "aten::add_.Scalar", {plan::t(step), plan::i(1)}, {step})
      .returns(plan::t(y));
  return task;
}

enum class Steps { counted, known_by_another_name, absent };

// The kernel takes (x, y), or (x, y, step) if the candidate counts steps.
plan::PlanBuilder candidate_of_steps(Steps steps) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int step = candidate.tensor({language::kLength}, plan::DType::int64),
            x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*i64"});
  candidate.aten(plan::Phase::init, "aten::ones", {plan::ints({language::kLength})}, {step},
                 {kWhole, language::kOnGpu});
  if (steps != Steps::absent)
    candidate.parameter(steps == Steps::counted ? "step" : "other", step,
                        plan::ParameterKind::buffer);
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(y), plan::t(step)})
      .returns(plan::t(y));
  if (steps != Steps::absent)
    candidate.aten(plan::Phase::forward, "aten::add_.Scalar", {plan::t(step), plan::i(1)}, {step});
  return candidate;
}

language::LaunchOutcome times_step(std::span<const language::KernelArgument> arguments) {
  const auto* steps = reinterpret_cast<const std::int64_t*>(language::floats(arguments[2]));
  for (int k = 0; k < language::kLength; ++k)
    language::floats(arguments[1])[k] =
        language::floats(arguments[0])[k] * static_cast<float>(steps[k]);
  return {.loaded = {0, 2}, .stored = {1}};
}

language::LaunchOutcome times_one(std::span<const language::KernelArgument> arguments) {
  for (int k = 0; k < language::kLength; ++k)
    language::floats(arguments[1])[k] = language::floats(arguments[0])[k];
  return {.loaded = {0}, .stored = {1}};
}

RefereeReport report_on(const plan::PlanBuilder& task, const plan::PlanBuilder& candidate,
                        language::FakeExecutor::Body body) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"});
}

TEST(State, OfTheFirstCallShowsInTheSecond) {
  const auto task = task_of_steps();
  for (const Steps steps : {Steps::counted, Steps::known_by_another_name})
    EXPECT_EQ(error_message(report_on(task, candidate_of_steps(steps), times_step)), "");
  const RefereeReport report = report_on(task, candidate_of_steps(Steps::counted), times_one);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("in the second call of forward"), std::string::npos);
}

TEST(State, ThatTheReferenceChangesTheCandidateMustHave) {
  const RefereeReport report =
      report_on(task_of_steps(), candidate_of_steps(Steps::absent), times_step);
  EXPECT_EQ(error_class(report), "state_mismatch");
  EXPECT_NE(error_message(report).find("step"), std::string::npos);
}

// exp(x) overflows where 100 is added, so that output is inconclusive there.
TEST(Outputs, ThatOverflowExcuseNoOther) {
  plan::PlanBuilder task(plan::PlanRole::task), candidate(plan::PlanRole::candidate);
  const int x = task.tensor({language::kLength}), e = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::randn", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::exp", {plan::t(x)}, {e})
      .aten(plan::Phase::forward, "aten::abs", {plan::t(x)}, {y})
      .returns(plan::Value{plan::Tuple{{plan::t(e), plan::t(y)}}});
  for (int k = 0; k < 3; ++k) candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {e})
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(e), plan::t(y)})
      .returns(plan::Value{plan::Tuple{{plan::t(e), plan::t(y)}}});
  const auto up_to = [](float most) {
    return [most](std::span<const language::KernelArgument> arguments) {
      for (int k = 0; k < language::kLength; ++k) {
        const float value = language::floats(arguments[0])[k];
        language::floats(arguments[1])[k] = std::exp(value);
        language::floats(arguments[2])[k] = std::min(std::abs(value), most);
      }
      return language::LaunchOutcome{.loaded = {0}, .stored = {1, 2}};
    };
  };
  EXPECT_EQ(error_message(report_on(task, candidate, up_to(1e9F))), "");
  const RefereeReport report = report_on(task, candidate, up_to(50));
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("output 1"), std::string::npos) << error_message(report);
}

}  // namespace
}  // namespace tritonsmith::gym::referee
