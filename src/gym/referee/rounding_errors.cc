#include "gym/referee/rounding_errors.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <variant>

#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/trial.h"
#include "gym/trial/weakness.h"

namespace tritonsmith::gym::referee {
namespace {

using trial::RoundingSpread;

// Adds the candidate's errors in this trial with its results rounded otherwise.
void add_roundings(Equipment& evaluator, trial::TrialConfig config, RoundingSpread& spread) {
  std::uint32_t nth = 0;
  for (const std::uint32_t width : trial::kRoundingWidths) {
    if (spread.is_measured()) return;
    for (int round = 0; round < trial::kRoundings && !config.deadline.passed(); ++round) {
      config.rounding = {.width = width, .round = ++nth};
      const trial::TrialResult rounded =
          trial::run_trial(config, *evaluator.executor, evaluator.device);
      if (!rounded.is_stopped() && rounded.errors) spread.add(*rounded.errors);
    }
  }
}

// Returns nothing if the roundings do not tell.
std::optional<bool> is_explained(const RoundingSpread& spread) {
  using enum RoundingSpread::Answer;
  const RoundingSpread::Answer answer = spread.answer();
  if (answer == explained) return true;
  if (answer == all_but_jumps || !spread.is_measured()) return std::nullopt;
  return false;
}

// A GPU rounds in one way only. So the evaluator repeats the trial with the same inputs and weights. If rounding
// does not explain its own errors, the candidate is wrong. Otherwise each error of the GPU must be explained by
// the spread of its element. Returns nothing if the evaluator cannot tell: the trial may be too large for it, and
// a GPU computes some functions in another way.
std::optional<bool> is_rounding_of_gpu(Equipment& equipment, trial::TrialConfig config) {
  constexpr double most_bytes = 64 << 20;
  constexpr std::int64_t most_memory = std::int64_t{1} << 30;
  constexpr std::chrono::nanoseconds patience = std::chrono::seconds(4);
  Equipment& evaluator = *equipment.evaluator;
  if (config.python_reference != nullptr ||
      plan::analysis::needed_bytes(config.task, config.candidate) > most_bytes)
    return std::nullopt;
  trial::TrialNumbers numbers;
  config.kept = &numbers;
  const trial::TrialResult of_gpu = trial::run_trial(config, *equipment.executor, equipment.device);
  if (of_gpu.is_stopped() || !of_gpu.errors) return std::nullopt;
  config.kept = nullptr;
  config.given = &numbers;
  config.memory_bytes = most_memory;
  config.fused = nullptr;
  const auto within = [limit = config.deadline](std::chrono::nanoseconds span) {
    const Deadline soon = Deadline::after(span);
    return soon.at() < limit.at() ? soon : limit;
  };
  config.deadline = within(patience / trial::kRoundings);  // as long as each of the others may take
  const trial::TrialResult usual = trial::run_trial(config, *evaluator.executor, evaluator.device);
  if (usual.is_stopped() || !usual.errors) return std::nullopt;
  RoundingSpread spread(*usual.errors);
  config.deadline = within(patience);
  add_roundings(evaluator, config, spread);
  const std::optional<bool> explained = is_explained(spread);
  const bool is_like_gpu = spread.answer_for(*of_gpu.errors) == RoundingSpread::Answer::explained;
  return explained == true && !is_like_gpu ? std::nullopt : explained;
}

// Says whether these errors of a trial become others when its inputs move by a few roundings.
bool is_nudged_noise(Equipment& equipment, trial::TrialConfig config,
                     const trial::OutputErrors& errors, trial::NudgeForm form) {
  trial::RoundingNoise noise(errors);
  for (const double units : trial::kNudges) {
    config.nudge = {.units = units, .form = form};
    const trial::TrialResult nudged =
        trial::run_trial(config, *equipment.executor, equipment.device);
    if (!nudged.is_stopped() && nudged.errors) noise.add(*nudged.errors);
  }
  return noise.is_shown();
}

// Says whether forward looks at the bits of a number. Where a kernel does as the task does, its results jump
// as soon as it loads other bits, and such jumps would explain any error.
bool looks_at_bits(const plan::Plan& task) {
  return std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && plan::operators::depends_on_width(call->op);
  });
}

// Asks the evaluator. Returns nothing if it cannot tell.
std::optional<bool> is_explained_by_grids(Equipment& equipment, const trial::TrialConfig& config,
                                          const trial::OutputErrors& errors) {
  if (looks_at_bits(config.task)) return std::nullopt;
  if (equipment.executor->set_rounding({})) {
    RoundingSpread spread(errors);
    add_roundings(equipment, config, spread);
    return is_explained(spread);
  }
  if (equipment.evaluator == nullptr) return std::nullopt;
  return is_rounding_of_gpu(equipment, config);
}

}  // namespace

// Nudges move the inputs of both sides, so they also tell for a task that looks at bits.
bool are_rounding_errors(Equipment& equipment, trial::TrialConfig config,
                         const trial::OutputErrors& errors) {
  config.kernels = {};
  config.purpose = trial::TrialPurpose::measure_errors;
  if (const auto explained = is_explained_by_grids(equipment, config, errors)) return *explained;
  return is_nudged_noise(equipment, config, errors, trial::NudgeForm::uniform) ||
         is_nudged_noise(equipment, config, errors, trial::NudgeForm::by_element);
}

}  // namespace tritonsmith::gym::referee
