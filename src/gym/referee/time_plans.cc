#include "gym/referee/time_plans.h"

#include <algorithm>

#include "gym/referee/reference_jumps.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/tuned_configs.h"
#include "gym/timing/timing.h"

namespace tritonsmith::gym::referee {
namespace {

// Times the trial while other programs that share the lease of this GPU pause. If one of them does
// not pause, the verdict says so.
timing::TimingOutcome time_alone(Equipment& equipment, trial::FinishedTrial& trial,
                                 const RefereeJob& job) {
  constexpr std::chrono::seconds patience{5};
  const bool is_alone =
      !equipment.lease || equipment.lease->take(Lease::Hold::alone, Deadline::after(patience));
  timing::TimingOutcome outcome =
      timing::time_trial(trial, *equipment.gpu,
                         {.seconds = std::clamp(job.budget.timing_seconds, 0.0, 60.0),
                          .known_reference = &equipment.reference_ms[job.task_key],
                          .clocks = equipment.clocks ? &*equipment.clocks : nullptr});
  if (equipment.lease) equipment.lease->give_back();
  if (!is_alone)
    outcome.findings.push_back(
        {.rule = "timed_in_company",
         .severity = Severity::note,
         .message = fmt::format("another process held the GPU's lease for {} s; the times may "
                                "include its work",
                                patience.count())});
  return outcome;
}

// Runs the trial whose candidate is timed. Its weights are changed gently. Otherwise a kernel might
// gain time from weights that the constructor fills with zeros, and trained weights are no zeros.
// `adopted` gets the values that the reference takes where it jumps. The trial refers to it.
trial::FinishedTrial run_timed_trial(Equipment& equipment, trial::TrialConfig& config,
                                     const Soundness& plain,
                                     std::vector<trial::ElementValues>& adopted) {
  config.weights = trial::WeightChange::gentle;
  config.keeping = trial::StateKeeping::watched;
  const auto finish = [&] {
    config.adopted = nullptr;
    std::optional<trial::FinishedTrial> trial(
        trial::finish_trial(config, *equipment.executor, equipment.device));
    if (trial->result.few_wrong.empty()) return *std::move(trial);
    const trial::TrialResult failed = std::move(trial->result);
    trial.reset();  // no other trial may run on its device
    adopted = find_jumps(equipment, config, failed);
    if (!adopted.empty()) config.adopted = &adopted;
    return trial::finish_trial(config, *equipment.executor, equipment.device);
  };
  {
    trial::FinishedTrial trial = finish();
    if (plain.holds_for(trial.result)) return trial;
  }
  config.weights.reset();
  return finish();
}

// Times the candidate and writes the times into the report. Returns the tuned configs that ran, or
// nothing if a round failed.
std::optional<replay::Choices> time_trial(Equipment& equipment, const TrialContext& context,
                                          trial::FinishedTrial& trial, RefereeReport& report) {
  const Stopwatch watch;
  timing::TimingOutcome outcome = time_alone(equipment, trial, context.job);
  add_time(report, "time_set_up", outcome.set_up_ms);
  add_time(report, "time", watch.milliseconds() - outcome.set_up_ms);
  report.timing = std::move(outcome.timing);
  add_findings(report, outcome.findings);
  if (!outcome.stop) return std::move(outcome.picked);
  report.error = outcome.stop->error;
  report.fault = outcome.stop->fault;
  report.deadline_hit = report.fault == Fault::none && context.deadline.passed();
  return std::nullopt;
}

}  // namespace

bool is_timed(const Equipment& equipment, const RefereeJob& job) {
  return equipment.gpu != nullptr && job.budget.timing_seconds > 0;
}

int timed_trial(const Equipment& equipment, const TrialContext& context) {
  constexpr int second_plain = 3;
  if (!is_timed(equipment, context.job)) return -1;
  return context.job.trials > second_plain ? second_plain : kBeyondAllChoices;
}

// Few candidates change the state that their forward finds. For such a candidate, the trial runs
// once more and saves all of that state.
void time_plans(Equipment& equipment, const TrialContext& context, const Soundness& plain,
                RefereeReport& report) {
  const int number = timed_trial(equipment, context);
  trial::TrialConfig config = context.config_of(number, trial::Perturbation::plain);
  std::vector<trial::ElementValues> adopted;
  std::optional<trial::FinishedTrial> trial = run_timed_trial(equipment, config, plain, adopted);
  add_trial(report, trial->result);
  if (!trial->result.is_stopped() && trial->changed_state) {
    trial.reset();
    config.keeping = trial::StateKeeping::saved;
    trial.emplace(trial::finish_trial(config, *equipment.executor, equipment.device));
    add_trial(report, trial->result);
  }
  if (take_failure(report, trial->result)) return;
  if (number < context.job.trials) ++report.numerics->trials;
  const auto picked = time_trial(equipment, context, *trial, report);
  trial.reset();
  if (picked) run_picked_choices(equipment, context, *picked, report);
}

}  // namespace tritonsmith::gym::referee
