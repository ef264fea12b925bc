// What the referee makes of candidates whose launches have several configs.
#include <gtest/gtest.h>

#include "gym/referee/testing/reports.h"
#include "gym/referee/testing/vector_plans.h"

namespace tritonsmith::gym {
namespace {

RefereeReport judge_tuned(const PlanBuilder& task, const PlanBuilder& candidate,
                          FakeExecutor::Body body) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"});
}

// `k(x, y, config)`, and where there are two, of x by way of z; each with so many configs.
PlanBuilder tuned_candidate(int launches, int configs) {
  PlanBuilder candidate(PlanRole::candidate);
  const int x = candidate.tensor({kLength}), z = candidate.tensor({kLength}),
            y = candidate.tensor({kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "i32"});
  candidate.input(t(x))
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {z})
      .aten(Phase::forward, "aten::empty_like", {t(x)}, {y});
  const auto tune = [&](int from, int to) {
    candidate.launch(kernel, {t(from), t(to), i(0)});
    auto& choices = std::get<LaunchStep>(candidate.plan().steps.back().action).choices;
    for (int config = 1; config < configs; ++config)
      choices.push_back({.kernel = kernel, .arguments = {t(from), t(to), i(config)}});
  };
  if (launches == 2) tune(x, z);
  tune(launches == 2 ? z : x, y);
  candidate.returns(t(y));
  return candidate;
}

std::int64_t config_of(std::span<const KernelArgument> arguments) {
  return std::get<std::int64_t>(arguments[2]);
}

TEST(TunedLaunches, TriesEveryAutotuneConfig) {
  const auto wrong_in_the_third = [](std::span<const KernelArgument> a) {
    return config_of(a) == 2 ? copy_kernel()(a) : relu_kernel()(a);
  };
  EXPECT_TRUE(
      judge_tuned(task_of("aten::relu"), tuned_candidate(1, 2), wrong_in_the_third).correct);
  const auto report = judge_tuned(task_of("aten::relu"), tuned_candidate(1, 3), wrong_in_the_third);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("config 3 in line 12"), std::string::npos)
      << error_message(report);
}

TEST(TunedLaunches, AConfigThatDoesNotRunIsNotAccepted) {
  const auto report = judge_tuned(
      task_of("aten::relu"), tuned_candidate(1, 2), [](std::span<const KernelArgument> a) {
        if (config_of(a) == 0) return relu_kernel()(a);
        return LaunchOutcome{.error = VerdictError{.error_class = "too_large_to_evaluate"}};
      });
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

// Of numbers that are positive as drawn.
TEST(TunedLaunches, EveryConfigMeetsMoreThanTheTasksOwnInputs) {
  PlanBuilder task(PlanRole::task);
  const int x = task.tensor({kLength}), y = task.tensor({kLength});
  task.aten(Phase::inputs, "aten::rand", {ints({kLength})}, {x}, {kOnGpu})
      .input(t(x))
      .aten(Phase::forward, "aten::relu", {t(x)}, {y})
      .returns(t(y));
  const auto report =
      judge_tuned(task, tuned_candidate(1, 2), [](std::span<const KernelArgument> a) {
        return config_of(a) == 0 ? relu_kernel()(a) : copy_kernel()(a);
      });
  EXPECT_EQ(error_class(report), "wrong_value");
}

TEST(TunedLaunches, ConfigsOfSeveralLaunchesMustGoTogether) {
  const auto report = judge_tuned(
      task_of("aten::relu"), tuned_candidate(2, 2), [](std::span<const KernelArgument> a) {
        const bool is_first = std::get<KernelBuffer>(a[0]).tensor == 0;
        const float scale = config_of(a) == 0 ? 1.0F : is_first ? 4.0F : 0.25F;
        return elementwise(kLength, [&](float v) { return relu(v) * scale; })(a);
      });
  EXPECT_EQ(error_class(report), "wrong_value");
}

}  // namespace
}  // namespace tritonsmith::gym
