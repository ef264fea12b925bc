#include "gym/trial/trial.h"

#include "gym/trial/check.h"
#include "gym/trial/later_call.h"
#include "gym/trial/prepare.h"
#include "gym/trial/run_sides.h"

namespace tritonsmith::gym::trial {
namespace {

tl::expected<PreparedSides, TrialResult> prepare_call(Sides& sides) {
  auto prepared = prepare(sides);
  if (!prepared || !sides.config.later_call) return prepared;
  return prepare_later_call(sides, *std::move(prepared));
}

// The result of a candidate that broke the GPU's context.
TrialResult result_without_device(const PreparedSides& prepared, CandidateRun run) {
  TrialResult result;
  result.draw_ms = prepared.draw_ms;
  take_candidate_run(result, std::move(run));
  return result;
}

void keep_checked(FinishedTrial& trial, CheckedTrial checked, const PreparedSides& prepared) {
  trial.result = std::move(checked.result);
  trial.changed_state = checked.changed_state;
  trial.tolerance_extension = checked.tolerance_extension;
  for (const SharedTensor& each : prepared.shared)
    if (each.is_input) trial.inputs_before.emplace(each.reference, each.before);
}

}  // namespace

bool does_not_replay(const replay::Stop& stop) {
  const ErrorClass kind = stop.error.error_class;
  return kind == ErrorClass::not_evaluable || kind == ErrorClass::exception ||
         kind == ErrorClass::bad_plan;
}

FinishedTrial finish_trial(const TrialConfig& config, language::KernelExecutor& executor,
                           device::Device& device) {
  FinishedTrial trial{.result = {}, .sides = Sides(config, executor, device)};
  executor.set_order(config.order);
  executor.set_rounding(config.rounding);
  trial.ends_with_this.reset(&device);
  device.begin(tensors::Filler::zero, config.memory_bytes);
  auto prepared = prepare_call(trial.sides);
  if (!prepared) {
    trial.result = std::move(prepared.error());
    return trial;
  }
  SideResults results = run_sides(trial.sides, *prepared);
  if (results.is_device_lost) {
    trial.result = result_without_device(*prepared, std::move(results.candidate));
    return trial;
  }
  trial.candidate_state = std::move(prepared->candidate_state);
  trial.reference_state = std::move(results.reference_state);
  keep_checked(trial, check(trial.sides, *prepared, std::move(results)), *prepared);
  forget_expected(trial.sides);
  return trial;
}

TrialResult run_trial(const TrialConfig& config, language::KernelExecutor& executor,
                      device::Device& device) {
  return finish_trial(config, executor, device).result;
}

}  // namespace tritonsmith::gym::trial
