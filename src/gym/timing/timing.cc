#include "gym/timing/timing.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "gym/plan/analysis/cost/memory_peak.h"
#include "gym/plan/analysis/cost/roofline.h"
#include "gym/timing/impossible_speed.h"
#include "gym/timing/new_inputs.h"
#include "gym/timing/sampling.h"
#include "gym/timing/step_times.h"
#include "gym/timing/timed_rounds.h"

namespace tritonsmith::gym::timing {
namespace {

// The phases of one timing, in the order in which run() goes through them.
class Timer {
 public:
  Timer(trial::FinishedTrial& trial, device::CudaDevice& device, const TimingLimits& limits)
      : trial_(trial),
        device_(device),
        limits_(limits),
        deadline_(Deadline::in_seconds(limits.seconds)),
        candidate_(trial.sides.config.candidate, trial.sides.candidate, device,
                   std::move(trial.candidate_state), true),
        reference_(trial.sides.config.task, trial.sides.reference, device,
                   std::move(trial.reference_state), false),
        sides_{.trial = trial.sides,
               .device = device,
               .candidate = candidate_,
               .reference = reference_,
               .setting = timed_setting(trial.sides.config.task),
               .tolerance_extension = trial.tolerance_extension},
        timed_(device, tensors::Filler::nan),
        rounds_(sides_, limits, timed_),
        steps_(device, candidate_, timed_) {}

  TimingOutcome run() {
    const c10::InferenceMode no_gradients(true);
    TimingOutcome outcome;
    referee::PlanTiming timing;
    outcome.stop = measure(timing, outcome.set_up_ms);
    device_.set_patience(Deadline::never());  // the reference's work
    if (!outcome.stop) outcome.stop = check_archived();
    if (!outcome.stop) {
      timing.candidate = rounds_.candidate_timing();
      timing.clocks = rounds_.clocks();
      // A task that draws no inputs has no new ones.
      if (!rounds_.erases_reference())
        outcome.stop = meet_new_inputs(timing.candidate, outcome.findings);
    }
    if (auto late = late_fault(device_); late && !outcome.stop) outcome.stop = std::move(late);
    if (outcome.stop) return outcome;
    report(outcome, std::move(timing));
    return outcome;
  }

 private:
  std::optional<replay::Stop> measure(referee::PlanTiming& timing, double& set_up_ms) {
    const EagerSettings eager(sides_.setting);
    const Stopwatch watch;
    auto stop = set_up();
    set_up_ms = watch.milliseconds();
    if (!stop) stop = steps_.choose_configs(deadline_);
    if (!stop) stop = rounds_.warm_up();
    if (!stop) stop = rounds_.take_samples(deadline_);
    if (!stop) stop = steps_.add_to(timing, rounds_.candidate_timing().median);
    return stop;
  }

  std::optional<replay::Stop> set_up() {
    if (auto stop = rounds_.set_up()) return stop;
    candidate_.alternate_buffers();
    // An input that forward changed gets its first values again here.
    if (auto stop = rounds_.prepare()) return stop;
    keep_original_inputs();
    trial::forget_expected(trial_.sides);
    // A reference that changes its inputs keeps the drawn ones, since each run restores them.
    if (!reference_.changes_state()) {
      trial_.sides.seed("timing");
      if (auto stop = reference_.replay().run(plan::Phase::inputs)) return stop;
    }
    if (has_same_inputs()) rounds_.erase_reference();
    return std::nullopt;
  }

  void keep_original_inputs() {
    for (const int index : trial::input_tensors(trial_.sides.config.task))
      original_inputs_.emplace_back(index,
                                    tensors::tensor_at(reference_.replay().tensors(), index));
  }

  // Says whether the task's inputs are the same in each draw, or were kept. The results of the
  // reference in one round are then the outputs that the candidate owes in the next round, so they
  // must be erased.
  bool has_same_inputs() {
    for (const auto& [index, drawn] : original_inputs_) {
      const at::Tensor& now = tensors::tensor_at(reference_.replay().tensors(), index);
      const auto before = trial_.inputs_before.find(index);
      if (!device_.unchanged(now, before != trial_.inputs_before.end()
                                      ? before->second
                                      : device_.snapshots({&drawn, 1}).front()))
        return false;
    }
    return true;
  }

  // Compares archived outputs. The reference runs on the candidate's inputs here for the first time
  // since the rounds began.
  std::optional<replay::Stop> check_archived() {
    OutputArchive& archive = rounds_.archive();
    if (archive.size() == 0) return std::nullopt;
    for (const auto& [index, input] : original_inputs_) reference_.replay().bind(index, input);
    auto stop = check_archive(sides_, archive);
    archive.clear();
    return stop;
  }

  // If the candidate's time depends on its data, the time on new inputs counts.
  std::optional<replay::Stop> meet_new_inputs(Timing& timing, std::vector<Finding>& findings) {
    auto met = time_on_new_inputs(sides_, timed_.filler(), timing.median,
                                  [this] { return rounds_.time_once(); });
    if (!met) return std::move(met.error());
    auto finding = judge_new_inputs(timing.median, *met);
    if (!finding) return std::nullopt;
    if (finding->severity != Severity::reject) timing = timing_of(met->first_ms);
    findings.push_back(*std::move(finding));
    return std::nullopt;
  }

  void report(TimingOutcome& outcome, referee::PlanTiming timing) {
    outcome.picked = steps_.picked();
    if (trial_.sides.reference_replays()) {
      timing.reference = rounds_.reference_timing();
      if (limits_.known_reference != nullptr)
        *limits_.known_reference = rounds_.reference().remembered();
    }
    const trial::TrialConfig& plans = trial_.sides.config;
    const plan::analysis::LeastWork work = plan::analysis::least_work(plans.task);
    timing.peak_bytes = plan::analysis::peak_bytes(plans.candidate);
    // The plan of a task that ran in Python ends before its forward.
    if (trial_.sides.reference_replays()) {
      timing.work = plan::analysis::unavoidable(work);
      timing.reference_peak_bytes = plan::analysis::peak_bytes(plans.task);
    }
    if (auto finding = find_impossible_speed(work, device_.facts(), timing.candidate.median))
      outcome.findings.push_back(*std::move(finding));
    outcome.timing = std::move(timing);
  }

  trial::FinishedTrial& trial_;
  device::CudaDevice& device_;
  TimingLimits limits_;
  Deadline deadline_;
  TimedSide candidate_, reference_;
  TimedSides sides_;
  TimedRun timed_;
  TimedRounds rounds_;
  StepTimes steps_;
  // The candidate's inputs, as the reference of the trial had them.
  std::vector<std::pair<int, at::Tensor>> original_inputs_;
};

}  // namespace

TimingOutcome time_trial(trial::FinishedTrial& trial, device::CudaDevice& device,
                         const TimingLimits& limits) {
  return Timer(trial, device, limits).run();
}

}  // namespace tritonsmith::gym::timing
