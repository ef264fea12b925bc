// The part of the referee that times what was found right.
#include <algorithm>

#include "gym/device/cuda_device.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/trial_context.h"
#include "gym/timing/timing.h"

namespace tritonsmith::gym::referee {

// The second plain one where it was asked for, else one of its own; none on a CPU, or where no time
// is given for it.
int Referee::timed_trial(const TrialContext& context) const {
  constexpr int second_plain = 3;
  if (!is_timed(context.job)) return -1;
  return context.job.trials > second_plain ? second_plain : kBeyondAllChoices;
}

// Whoever else computes on this GPU pauses meanwhile; one that does not is named in the verdict.
timing::TimingOutcome Referee::time_alone(trial::Trial& trial, const RefereeJob& job) {
  constexpr std::chrono::seconds patience{5};
  const bool is_alone = !lease_ || lease_->take(Lease::Hold::alone, Deadline::after(patience));
  timing::TimingOutcome outcome =
      timing::time_trial(trial, *gpu_,
                         {.seconds = std::clamp(job.budget.timing_seconds, 0.0, 60.0),
                          .known_reference = &reference_ms_[job.task_key]});
  if (lease_) lease_->give_back();
  if (!is_alone)
    outcome.findings.push_back(
        {.rule = "timed_in_company",
         .severity = Severity::note,
         .message = fmt::format("another process held the GPU's lease for {} s; the times may "
                                "include its work",
                                patience.count())});
  return outcome;
}

// A trial's outcome counts before it is timed. Its weights are changed: what a constructor fills
// with zeros need not be multiplied, and nobody's users stop there. Few change what they find:
// their trial runs once more, and all that it found is saved.
void Referee::time_plans(const TrialContext& context, const Soundness& plain,
                         RefereeReport& report) {
  const int number = timed_trial(context);
  trial::TrialConfig config = context.setting(number, trial::Perturbation::plain);
  config.weights = trial::WeightChange::gentle;
  auto trial = std::make_unique<trial::Trial>(config, *executor_, *device_);
  trial->keep_state(trial::StateKeeping::watched);
  trial::TrialResult result = trial->run();
  if (!plain.holds_for(result)) {
    config.weights.reset();
    trial.reset();
    trial = std::make_unique<trial::Trial>(config, *executor_, *device_);
    trial->keep_state(trial::StateKeeping::watched);
    result = trial->run();
  }
  add_trial(report, result);
  if (!result.candidate_stop && !result.reference_stop && trial->changed_state()) {
    trial.reset();
    trial = std::make_unique<trial::Trial>(config, *executor_, *device_);
    trial->keep_state(trial::StateKeeping::saved);
    result = trial->run();
    add_trial(report, result);
  }
  if (take_failure(report, result)) return;
  if (number < context.job.trials) ++report.numerics->trials;
  const Stopwatch watch;
  timing::TimingOutcome outcome = time_alone(*trial, context.job);
  add_time(report, "time_set_up", outcome.set_up_ms);
  add_time(report, "time", watch.milliseconds() - outcome.set_up_ms);
  report.timing = std::move(outcome.timing);
  add_findings(report, outcome.findings);
  if (!outcome.stop) {
    trial.reset();
    run_picked_choices(context, outcome.picked, report);
    return;
  }
  report.error = outcome.stop->error;
  report.fault = outcome.stop->fault;
  report.deadline_hit = report.fault == Fault::none && context.deadline.passed();
}

}  // namespace tritonsmith::gym::referee
