#include "gym/trial/run_sides.h"

#include <c10/core/InferenceMode.h>

#include "gym/trial/oracle.h"
#include "gym/trial/other_rounding.h"
#include "gym/trial/python_reference_answer.h"

namespace tritonsmith::gym::trial {
namespace {

// Remembers what the reference finds before forward changes any of it. A task with a fused oracle
// changes none of its inputs.
void remember_for_oracle(Sides& sides, SideResults& results) {
  const c10::InferenceMode no_gradients(true);
  const TrialConfig& config = sides.config;
  if (config.keeping == StateKeeping::saved)
    results.reference_state = save_state(config.task, sides.reference.tensors());
  if (!config.with_oracle || !sides.reference_replays() || config.fused != nullptr) return;
  auto inputs = widened_inputs(sides);
  if (inputs)
    results.oracle_inputs = *std::move(inputs);
  else
    results.candidate.stop = std::move(inputs.error());
}

// Replays the reference's forward, rounded otherwise where the trial asks for that.
std::optional<replay::Stop> run_forward(Sides& sides) {
  const Nudge& by = sides.config.nudge;
  if (by.units == 0 || by.form != NudgeForm::by_value)
    return sides.reference.run(plan::Phase::forward);
  const OtherRounding rounding(sides.config.task, by);
  return sides.reference.run(plan::Phase::forward, [&](std::size_t step) {
    const c10::InferenceMode no_gradients(true);
    rounding.after_step(step, sides.reference.tensors());
  });
}

// Replays the candidate's forward. The executor rounds the results of kernels otherwise where the trial
// asks for that, and PyTorch's results are rounded here.
std::optional<replay::Stop> run_candidate_forward(Sides& sides) {
  const language::ResultRounding& by = sides.config.rounding;
  if (by.is_usual()) return sides.candidate.run(plan::Phase::forward);
  const OtherRounding rounding(sides.config.candidate, {.units = static_cast<double>(by.width),
                                                        .form = NudgeForm::by_value,
                                                        .round = static_cast<int>(by.round)});
  return sides.candidate.run(plan::Phase::forward, [&](std::size_t step) {
    const c10::InferenceMode no_gradients(true);
    rounding.after_step(step, sides.candidate.tensors());
  });
}

}  // namespace

CandidateRun run_candidate(Sides& sides, std::span<SharedTensor> shared) {
  const Stopwatch watch;
  device::Device& device = sides.device;
  device.set_filler(sides.filler);
  sides.seed("forward");
  device.set_patience(Deadline::after(replay::kKernelPatience));
  CandidateRun run;
  run.stop = run_candidate_forward(sides);
  run.stop = await_candidate(sides, std::move(run.stop));
  for (SharedTensor& each : shared)
    if (each.copied) each.before = device.copied(*each.copied);
  // The task's own work, or the judge's, follows. The kernel's patience limits neither.
  device.set_patience(Deadline::never());
  device.set_filler(tensors::Filler::zero);
  run.launches = sides.candidate.launches();
  run.findings = sides.candidate.findings();
  run.only_copied = sides.candidate.only_copied();
  run.milliseconds = watch.milliseconds();
  return run;
}

ReferenceRun run_reference(Sides& sides) {
  const Stopwatch watch;
  sides.seed("forward");
  ReferenceRun run;
  if (sides.reference_replays()) {
    run.stop = run_forward(sides);
    run.refused = run.stop && does_not_replay(*run.stop);
  } else {
    run.stop = ask_python_reference(sides);
  }
  // A pointwise forward is compared at once, and that comparison waits for both sides.
  if (sides.config.fused == nullptr) run.stop = await_reference(sides, std::move(run.stop));
  run.milliseconds = watch.milliseconds();
  return run;
}

SideResults run_sides(Sides& sides, PreparedSides& prepared) {
  SideResults results;
  if (sides.config.asked != nullptr) {  // only the reference knows the answer
    results.reference = run_reference(sides);
    return results;
  }
  results.candidate = run_candidate(sides, prepared.shared);
  results.is_device_lost = sides.device.spent();
  if (results.is_device_lost) return results;
  remember_for_oracle(sides, results);
  // The Python reference is slow, so it runs only where its answer is needed.
  if (sides.reference_replays() || !results.candidate.stop)
    results.reference = run_reference(sides);
  return results;
}

void take_candidate_run(TrialResult& result, CandidateRun run) {
  result.candidate_stop = std::move(run.stop);
  result.launches = std::move(run.launches);
  result.findings = std::move(run.findings);
  result.kernels_only_copied = run.only_copied;
  result.candidate_ms = run.milliseconds;
}

void take_reference_run(TrialResult& result, ReferenceRun run) {
  result.reference_stop = std::move(run.stop);
  result.forward_refused = run.refused;
  result.reference_ms = run.milliseconds;
}

}  // namespace tritonsmith::gym::trial
