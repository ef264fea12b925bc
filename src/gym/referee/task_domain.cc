#include "gym/referee/task_domain.h"

#include "gym/plan/analysis/asserts.h"
#include "gym/trial/reference_alone.h"

namespace tritonsmith::gym::referee {
namespace {

bool takes(Equipment& equipment, const trial::TrialConfig& config) {
  constexpr std::chrono::nanoseconds patience = std::chrono::seconds(2);
  constexpr std::int64_t memory = std::int64_t{4} << 30;
  const auto [at, is_new] = equipment.domains.try_emplace(std::string(config.task_key));
  TaskDomain& domain = at->second;
  if (is_new) domain.may_assert = plan::analysis::may_assert_on_gpu(config.task);
  if (!domain.may_assert) return true;
  // If there is no time to ask, only inputs within the bounds of their draws are given.
  const auto [known, is_question] =
      domain.takes.try_emplace({config.kind, config.within_bounds}, config.within_bounds);
  if (!is_question) return known->second;
  const trial::Answer answer =
      trial::ask_reference({.task = config.task,
                            .candidate = config.task,
                            .secret = config.secret,
                            .kind = config.kind,
                            .within_bounds = config.within_bounds,
                            .deadline = Deadline::after(patience),
                            .memory_bytes = memory},
                           *equipment.evaluator->executor, equipment.evaluator->device);
  if (answer != trial::Answer::unknown) known->second = answer == trial::Answer::takes;
  return known->second;
}

}  // namespace

std::optional<replay::Stop> refused_by_reference(Equipment& equipment,
                                                 const trial::TrialConfig& config) {
  const bool asks = equipment.evaluator != nullptr && config.python_reference == nullptr &&
                    config.kind != trial::Perturbation::plain;
  if (!asks || takes(equipment, config)) return std::nullopt;
  return replay::Stop{.error = {.error_class = ErrorClass::exception,
                                .message = "PyTorch refuses the changed inputs"},
                      .fault = Fault::none};
}

}  // namespace tritonsmith::gym::referee
