#include "gym/trial/perturb/trial_numbers.h"

#include <gtest/gtest.h>

#include "gym/language/testing/vector_plans.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::trial {
namespace {

// y = x + weight, where both are drawn.
plan::PlanBuilder task_with_weight() {
  plan::PlanBuilder task(plan::PlanRole::task);
  const int weight = task.tensor({language::kLength}), x = task.tensor({language::kLength}),
            y = task.tensor({language::kLength});
  for (const auto& [phase, made] : {std::pair(plan::Phase::init, weight), {plan::Phase::inputs, x}})
    task.aten(phase, "aten::randn", {plan::ints({language::kLength})}, {made}, {language::kOnGpu});
  task.parameter("weight", weight)
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::add.Tensor", {plan::t(x), plan::t(weight)}, {y})
      .returns(plan::t(y));
  return task;
}

plan::PlanBuilder candidate_with_weight() {
  plan::PlanBuilder candidate(plan::PlanRole::candidate);
  const int weight = candidate.tensor({language::kLength}),
            x = candidate.tensor({language::kLength}), y = candidate.tensor({language::kLength});
  const int kernel = candidate.kernel("k", {"*fp32", "*fp32", "*fp32"});
  candidate
      .aten(plan::Phase::init, "aten::randn", {plan::ints({language::kLength})}, {weight},
            {language::kOnGpu})
      .parameter("weight", weight)
      .input(plan::t(x))
      .aten(plan::Phase::forward, "aten::empty_like", {plan::t(x)}, {y})
      .launch(kernel, {plan::t(x), plan::t(weight), plan::t(y)})
      .returns(plan::t(y));
  return candidate;
}

// The inputs and weights that the candidate gets in one trial.
struct Seen {
  std::vector<float> x, weight;
  bool operator==(const Seen&) const = default;
};

Seen seen_in(TrialConfig config) {
  Seen seen;
  language::FakeExecutor executor;
  executor.define("k", [&](std::span<const language::KernelArgument> arguments) {
    const float *x = language::floats(arguments[0]), *weight = language::floats(arguments[1]);
    seen = {.x = {x, x + language::kLength}, .weight = {weight, weight + language::kLength}};
    for (int k = 0; k < language::kLength; ++k)
      language::floats(arguments[2])[k] = x[k] + weight[k];
    return language::LaunchOutcome{.loaded = {0, 1}, .stored = {2}};
  });
  const TrialResult result = run_trial(config, executor, device::cpu_device());
  EXPECT_FALSE(result.is_stopped());
  EXPECT_FALSE(result.difference);
  return seen;
}

TEST(TrialNumbers, AnotherTrialGetsTheSameInputsAndWeights) {
  const auto task = task_with_weight(), candidate = candidate_with_weight();
  for (const Perturbation kind :
       {Perturbation::plain, Perturbation::scaled, Perturbation::shifted, Perturbation::uneven}) {
    TrialNumbers numbers;
    TrialConfig config{.task = task.plan(),
                       .candidate = candidate.plan(),
                       .secret = "secret",
                       .kind = kind,
                       .memory_bytes = std::int64_t{1} << 30};
    config.kept = &numbers;
    const Seen first = seen_in(config);
    config.kept = nullptr;
    config.secret = "another secret";
    const Seen other = seen_in(config);
    EXPECT_NE(other.x, first.x);
    EXPECT_NE(other.weight, first.weight);
    config.given = &numbers;
    EXPECT_EQ(seen_in(config), first) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace tritonsmith::gym::trial
