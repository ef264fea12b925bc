#include "gym/referee/task_domain.h"

#include "gym/plan/analysis/asserts.h"
#include "gym/trial/reference_alone.h"

namespace tritonsmith::gym::referee {
namespace {

TaskDomain& domain_of(Equipment& equipment, const trial::TrialConfig& config) {
  const auto [at, is_new] = equipment.domains.try_emplace(std::string(config.task_key));
  if (is_new) at->second.may_assert = plan::analysis::may_assert_on_gpu(config.task);
  return at->second;
}

trial::Answer ask(Equipment& equipment, const trial::TrialConfig& config) {
  constexpr std::chrono::nanoseconds patience = std::chrono::seconds(2);
  constexpr std::int64_t memory = std::int64_t{4} << 30;
  return trial::ask_reference({.task = config.task,
                               .candidate = config.task,
                               .secret = config.secret,
                               .trial = config.trial,
                               .kind = config.kind,
                               .within_bounds = config.within_bounds,
                               .counters = config.counters,
                               .calls_before = config.calls_before,
                               .numbers = config.numbers,
                               .deadline = Deadline::after(patience),
                               .memory_bytes = memory},
                              *equipment.executor, equipment.device);
}

// Says whether the reference takes the inputs of this trial without numbers of a candidate. After a refusal it
// counts as refusing all inputs of this kind.
bool takes(Equipment& equipment, trial::TrialConfig config) {
  // If there is no time to ask, only inputs within the bounds of their draws are given.
  bool& takes_kind = domain_of(equipment, config)
                         .takes.try_emplace({config.kind, config.within_bounds}, true)
                         .first->second;
  if (!takes_kind) return false;
  config.numbers = nullptr;
  const trial::Answer answer = ask(*equipment.evaluator, config);
  if (answer == trial::Answer::unknown) return config.within_bounds;
  return takes_kind = answer == trial::Answer::takes;
}

}  // namespace

std::optional<replay::Stop> refused_by_reference(Equipment& equipment, trial::TrialConfig& config) {
  const bool asks = equipment.evaluator != nullptr && config.python_reference == nullptr &&
                    config.kind != trial::Perturbation::plain;
  if (!asks || !domain_of(equipment, config).may_assert) return std::nullopt;
  if (takes(equipment, config)) {
    if (config.numbers != nullptr && ask(*equipment.evaluator, config) != trial::Answer::takes)
      config.numbers = nullptr;
    return std::nullopt;
  }
  return replay::Stop{.error = {.error_class = ErrorClass::exception,
                                .message = "PyTorch refuses the changed inputs"},
                      .fault = Fault::none};
}

bool takes_counts(Equipment& equipment, const trial::TrialConfig& config) {
  const bool on_gpu = equipment.gpu != nullptr;
  TaskDomain& domain = domain_of(equipment, config);
  if (on_gpu && !domain.may_assert) return true;
  if (on_gpu && equipment.evaluator == nullptr) return false;
  const auto [known, is_question] =
      domain.takes_after_calls.try_emplace(config.calls_before, false);
  if (!is_question) return known->second;
  trial::TrialConfig alone = config;
  alone.numbers = nullptr;
  const trial::Answer answer = ask(on_gpu ? *equipment.evaluator : equipment, alone);
  return known->second = answer == trial::Answer::takes;
}

}  // namespace tritonsmith::gym::referee
