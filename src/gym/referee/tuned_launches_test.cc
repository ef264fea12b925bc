// Tests how the referee judges candidates whose launches have several configs.
#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"
#include "gym/referee/testing/reports.h"

namespace tritonsmith::gym::referee {
namespace {

RefereeReport judge_tuned(const plan::PlanBuilder& task, const plan::PlanBuilder& candidate,
                          language::FakeExecutor::Body body) {
  return referee_of(task, std::move(body))
      ->judge({.task_key = "task", .candidate_plan = plan_json(candidate), .secret = "secret"});
}

// The candidate launches `k(x, y, config)`. With two launches, it computes y from x by way of z.
// Each launch has as many configs.
plan::PlanBuilder tuned_candidate(int launches, int configs) {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int x = candidate.tensor({language::kLength}), z = candidate.tensor({language::kLength}),
            y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "i32"});
  candidate.input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {z})
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y});
  const auto tune = [&](int from, int to) {
    candidate.launch(kernel, {plan::t(from), plan::t(to), plan::i(0)});
    auto& choices = std::get<plan::LaunchStep>(candidate.plan().steps.back().action).choices;
    for (int config = 1; config < configs; ++config)
      choices.push_back({.kernel = kernel,
                         .arguments = {plan::t(from), plan::t(to), plan::i(config)},
                         .config = fmt::format("BLOCK: {}", config)});
  };
  if (launches == 2) tune(x, z);
  tune(launches == 2 ? z : x, y);
  candidate.returns(plan::t(y));
  return candidate;
}

std::int64_t config_of(std::span<const language::KernelArgument> arguments) {
  return std::get<std::int64_t>(arguments[2]);
}

TEST(TunedLaunches, TriesEveryAutotuneConfig) {
  const auto wrong_in_the_third = [](std::span<const language::KernelArgument> a) {
    return config_of(a) == 2 ? language::copy_kernel()(a) : language::relu_kernel()(a);
  };
  EXPECT_TRUE(
      judge_tuned(language::task_of("aten::relu"), tuned_candidate(1, 2), wrong_in_the_third)
          .correct);
  const auto report =
      judge_tuned(language::task_of("aten::relu"), tuned_candidate(1, 3), wrong_in_the_third);
  EXPECT_EQ(error_class(report), "wrong_value");
  EXPECT_NE(error_message(report).find("config 3 (BLOCK: 2) in line 12"), std::string::npos)
      << error_message(report);
}

TEST(TunedLaunches, AConfigThatDoesNotRunIsNotAccepted) {
  const auto report =
      judge_tuned(language::task_of("aten::relu"), tuned_candidate(1, 2),
                  [](std::span<const language::KernelArgument> a) {
                    if (config_of(a) == 0) return language::relu_kernel()(a);
                    return language::LaunchOutcome{
                        .error = VerdictError{.error_class = ErrorClass::too_large_to_evaluate}};
                  });
  EXPECT_EQ(error_class(report), "too_large_to_evaluate");
  EXPECT_EQ(report.fault, Fault::none);
}

// The drawn numbers are positive.
TEST(TunedLaunches, EveryConfigMeetsMoreThanTheTasksOwnInputs) {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int x = task.tensor({language::kLength}), y = task.tensor({language::kLength});
  task.aten(plan::Phase::inputs, "aten::rand", {plan::ints({language::kLength})}, {x},
            {language::kOnGpu})
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::relu", {plan::t(x)}, {y})
      .returns(plan::t(y));
  const auto report =
      judge_tuned(task, tuned_candidate(1, 2), [](std::span<const language::KernelArgument> a) {
        return config_of(a) == 0 ? language::relu_kernel()(a) : language::copy_kernel()(a);
      });
  EXPECT_EQ(error_class(report), "wrong_value");
}

TEST(TunedLaunches, ConfigsOfSeveralLaunchesMustGoTogether) {
  const auto report =
      judge_tuned(language::task_of("aten::relu"), tuned_candidate(2, 2),
                  [](std::span<const language::KernelArgument> a) {
                    const bool is_first = std::get<language::KernelBuffer>(a[0]).tensor == 0;
                    const float scale = config_of(a) == 0 ? 1.0F : is_first ? 4.0F : 0.25F;
                    return language::elementwise(
                        language::kLength, [&](float v) { return language::relu(v) * scale; })(a);
                  });
  EXPECT_EQ(error_class(report), "wrong_value");
}

}  // namespace
}  // namespace tritonsmith::gym::referee
