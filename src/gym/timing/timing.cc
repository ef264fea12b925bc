#include "gym/timing/timing.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "gym/plan/analysis/roofline.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/timing/new_inputs.h"
#include "gym/timing/output_archive.h"
#include "gym/timing/round_plan.h"
#include "gym/timing/sampling.h"
#include "gym/trial/perturbation.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr double kBatchSeconds = 0.5;
constexpr int kWarmUp = 1;
constexpr int kProfiles = 3;                 // rounds that time each step by itself
constexpr std::ptrdiff_t kRemembered = 400;  // rounds of the reference
constexpr std::int64_t kArchiveBytes = std::int64_t{8} << 30;

replay::Stop stopped(VerdictError error, Fault fault = Fault::candidate) {
  return {.error = std::move(error), .fault = fault};
}

class Timer {
 public:
  Timer(trial::Trial& trial, device::CudaDevice& device, const TimingLimits& limits)
      : trial_(trial),
        device_(device),
        limits_(limits),
        deadline_(Deadline::in_seconds(limits.seconds)),
        candidate_(trial.setting().candidate, trial.candidate(), device,
                   trial.take_candidate_state(), true),
        reference_(trial.setting().task, trial.reference(), device, trial.take_reference_state(),
                   false),
        setting_(timed_setting(trial.setting().task)),
        archive_(device, trial.setting().secret) {}

  TimingOutcome run() {
    const c10::InferenceMode no_gradients(true);
    TimingOutcome outcome;
    referee::PlanTiming timing;
    outcome.stop = measure(timing, outcome.set_up_ms);
    device_.set_patience(Deadline::never());  // the reference's work
    if (!outcome.stop) outcome.stop = check_archived();
    if (!outcome.stop) {
      timing.candidate = timing_of(samples(candidate_ms_));
      // Where a task draws no inputs there are no new ones.
      if (!erases_) outcome.stop = meet_new_inputs(timing.candidate, outcome.findings);
    }
    if (auto error = device_.wait(device_.patience()); error && !outcome.stop)
      outcome.stop = stopped(std::move(*error));
    if (outcome.stop) return outcome;
    outcome.picked = picked();
    if (trial_.reference_replays()) {
      timing.reference = timing_of(samples(reported_reference()));
      if (limits_.known_reference != nullptr) *limits_.known_reference = remembered_reference();
    }
    if (auto finding =
            plan::analysis::find_impossible_speed(plan::analysis::least_work(trial_.setting().task),
                                                  device_.facts(), timing.candidate.median))
      outcome.findings.push_back(*std::move(finding));
    outcome.timing = std::move(timing);
    return outcome;
  }

 private:
  std::optional<replay::Stop> measure(referee::PlanTiming& timing, double& set_up_ms) {
    const EagerSettings eager(setting_);
    const Stopwatch watch;
    auto stop = set_up();
    set_up_ms = watch.milliseconds();
    if (!stop) stop = choose_configs();
    if (!stop) stop = warm_up();
    if (!stop) stop = take_samples();
    if (!stop) stop = profile(timing);
    return stop;
  }

  std::optional<replay::Stop> set_up() {
    auto events = device_.events(std::size_t{4} * kLargestBatch);
    if (!events) return fault(events.error().message);
    events_ = *events;
    flush_ = at::empty({flush_bytes(device_.facts().cache_bytes)},
                       at::dtype(at::kByte).device(device_.torch_device()));
    expected_ = print_of_outputs();
    candidate_.take_turns();
    if (auto stop = prepare()) return stop;  // an input that was changed is itself again
    keep_original_inputs();
    trial_.forget_expected();
    // A reference that changes its inputs keeps those that it changes back.
    if (!reference_.changes_state()) {
      device_.seed(trial::trial_seed(trial_.setting().secret, "timing", trial_.setting().trial));
      if (auto stop = reference_.replay().run(plan::Phase::inputs)) return stop;
    }
    erases_ = same_inputs();
    return std::nullopt;
  }

  // A task whose inputs are not random, or were kept: then what the reference makes in a round is
  // what the candidate owes in the next, and must go.
  bool same_inputs() {
    for (const auto& [index, drawn] : original_inputs_) {
      const at::Tensor& now = reference_.replay().tensors().at(static_cast<std::size_t>(index));
      const auto before = trial_.input_before(index);
      if (!device_.unchanged(now, before ? *before : device_.snapshots({&drawn, 1}).front()))
        return false;
    }
    return true;
  }

  static replay::Stop fault(const std::string& message) {
    return stopped({.error_class = "referee_failed", .message = message}, Fault::infrastructure);
  }

  void keep_original_inputs() {
    for (const int index : trial::input_tensors(trial_.setting().task))
      original_inputs_.emplace_back(
          index, reference_.replay().tensors().at(static_cast<std::size_t>(index)));
  }

  std::uint64_t print_of_outputs() {
    const std::vector<at::Tensor> outputs = candidate_.outputs();
    device_.kernels().clear_rounds(0, 1);
    device_.kernels().add_fingerprints(blocks_of(outputs), kSalt, 0);
    device_.kernels().bring_rounds(0, 1);
    candidate_.forget_copies(outputs);
    static_cast<void>(device_.wait(device_.patience()));
    return device_.kernels().rounds()[0];
  }

  static std::vector<cuda::Bytes> blocks_of(const std::vector<at::Tensor>& tensors) {
    std::vector<cuda::Bytes> blocks;
    for (const at::Tensor& tensor : tensors)
      blocks.push_back({tensor.const_data_ptr(), tensor.nbytes()});
    return blocks;
  }

  // What its poison fills of the cache need not be filled again.
  void flush(TimedSide& side) {
    const std::int64_t left = flush_.numel() - side.poison_others(filler_);
    if (left > 0)
      device_.driver().memset_async(reinterpret_cast<CUdeviceptr>(flush_.mutable_data_ptr()), 0,
                                    static_cast<std::size_t>(left), nullptr);
  }

  // Time between two marks of the round's four.
  double milliseconds(int round, int first) const {
    const auto at = static_cast<std::size_t>(4 * round + first);
    return events_[at + 1].milliseconds_since(events_[at]);
  }
  cuda::Event& mark(int round, int place) {
    return events_[static_cast<std::size_t>(4 * round + place)];
  }

  std::optional<replay::Stop> prepare() {
    if (auto stop = reference_.prepare(tensors::Filler::zero))
      return as_task_failure(std::move(*stop));
    return candidate_.prepare(filler_);
  }

  // A flush before each side: it also leaves the cache full of lines that must be written back.
  std::optional<replay::Stop> queue_round(int round) {
    if (auto stop = prepare()) return stop;
    if (auto stop = queue_timed(candidate_, mark(round, 0), mark(round, 1))) return stop;
    const std::vector<at::Tensor> outputs = candidate_.outputs();
    if (archives_)
      archive_.keep(outputs);
    else
      device_.kernels().add_fingerprints(blocks_of(outputs), kSalt,
                                         static_cast<std::size_t>(round));
    candidate_.forget_copies(outputs);
    const int nth = static_cast<int>(candidate_ms_.size()) + round;
    const bool with_reference = runs_reference(plan_, nth, reference_time());
    timed_reference_[static_cast<std::size_t>(round)] = with_reference;
    return with_reference ? queue_reference(round) : std::nullopt;
  }

  // The device waits until the host has queued all of it: else small kernels would be timed by how
  // fast they are queued, and LibTorch's operators are queued more slowly. It waits before the
  // cache is flushed: between the two, lines would be written back for as long as the host takes.
  std::optional<replay::Stop> queue_timed(TimedSide& side, cuda::Event& before,
                                          cuda::Event& after) {
    device_.kernels().hold();
    flush(side);
    before.record();
    auto stop = side.run();
    after.record();
    device_.kernels().release();
    return stop;
  }

  std::optional<replay::Stop> queue_reference(int round) {
    if (auto stop = queue_timed(reference_, mark(round, 2), mark(round, 3)))
      return as_task_failure(std::move(*stop));
    if (erases_) trial_.forget_expected();
    return std::nullopt;
  }

  ReferenceTime reference_time() const {
    if (reference_is_known_) return ReferenceTime::known;
    return is_remembered_ ? ReferenceTime::remembered : ReferenceTime::unknown;
  }

  // Every round may take as long as a trial might.
  std::optional<replay::Stop> run_batch(int rounds) {
    const Stopwatch watch;
    device_.set_patience(Deadline::after((rounds + 1) * 2 * replay::kKernelPatience));
    const auto ended = run_rounds(rounds);
    round_seconds_ = watch.seconds() / rounds;
    return ended;
  }

  std::optional<replay::Stop> run_rounds(int rounds) {
    device_.kernels().clear_rounds(0, static_cast<std::size_t>(rounds));
    for (int round = 0; round < rounds; ++round)
      if (auto stop = queue_round(round)) return late_fault().value_or(std::move(*stop));
    device_.kernels().bring_rounds(0, static_cast<std::size_t>(rounds));
    return late_fault();
  }

  // Waits; a fault of the device shows here.
  std::optional<replay::Stop> late_fault() {
    if (auto error = device_.wait(device_.patience())) return stopped(std::move(*error));
    return std::nullopt;
  }

  // Also finds out whether the candidate gives the same bits each time. Where it does not (atomic
  // additions in floating point), outputs are kept and compared by value at the end.
  std::optional<replay::Stop> warm_up() {
    if (auto stop = run_batch(kWarmUp)) return stop;
    plan_ = round_plan(milliseconds(0, 0));
    is_remembered_ = limits_.known_reference != nullptr &&
                     median_interval(samples(*limits_.known_reference)).within(limits_.share);
    for (std::size_t round = 0; round < kWarmUp; ++round)
      archives_ = archives_ || device_.kernels().rounds()[round] != expected_;
    return std::nullopt;
  }

  int most_rounds() const {
    if (!archives_) return limits_.most_rounds;
    std::int64_t bytes = 1;
    for (const at::Tensor& output : candidate_.outputs())
      bytes += static_cast<std::int64_t>(output.nbytes());
    return static_cast<int>(std::clamp<std::int64_t>(kArchiveBytes / bytes, 3, 50));
  }

  std::optional<replay::Stop> take_samples() {
    const int most = most_rounds();
    while (static_cast<int>(candidate_ms_.size()) < most) {
      const double wanted = candidate_ms_.empty() ? plan_.fewest : plan_.batch;
      const auto fit = static_cast<int>(std::clamp(kBatchSeconds / round_seconds_, 1.0, wanted));
      const int rounds = std::min(fit, most - static_cast<int>(candidate_ms_.size()));
      if (auto stop = run_batch(rounds)) return stop;
      for (int round = 0; round < rounds; ++round) {
        if (!archives_ && device_.kernels().rounds()[static_cast<std::size_t>(round)] != expected_)
          return take_samples_by_value();
        candidate_ms_.push_back(milliseconds(round, 0));
        remember(round);
        if (timed_reference_[static_cast<std::size_t>(round)])
          reference_ms_.push_back(milliseconds(round, 2));
      }
      reference_is_known_ = reference_is_known();
      const bool tight = median_interval(samples(candidate_ms_)).within(limits_.share);
      const bool enough = std::ssize(candidate_ms_) >= limits_.least_rounds;
      if ((tight && enough && reference_is_known_) || deadline_.passed()) return std::nullopt;
    }
    return std::nullopt;
  }

  std::vector<double> samples(const std::vector<double>& rounds) const {
    return samples_of(rounds, plan_.rounds_a_sample);
  }

  void remember(int round) {
    if (limits_.rounds != nullptr)
      limits_.rounds->push_back(
          {.candidate_ms = candidate_ms_.back(),
           .is_first = round == 0,
           .with_reference = timed_reference_[static_cast<std::size_t>(round)]});
  }

  // Warm-up was not enough to see that the bits differ: all rounds once more, whose outputs count.
  std::optional<replay::Stop> take_samples_by_value() {
    archives_ = true;
    reference_is_known_ = false;
    candidate_ms_.clear();
    reference_ms_.clear();
    if (limits_.rounds != nullptr) limits_.rounds->clear();
    return take_samples();
  }

  // To the share asked for, in what will be reported.
  bool reference_is_known() const {
    return !trial_.reference_replays() ||
           median_interval(samples(reported_reference())).within(limits_.share);
  }

  bool confirms_earlier() const {
    return confirms(samples(reference_ms_), samples(*limits_.known_reference), limits_.share);
  }

  // Those of earlier jobs count only while today's agree: another clock rate, say, starts anew.
  std::vector<double> remembered_reference() const {
    std::vector<double> all;
    if (limits_.known_reference != nullptr && confirms_earlier()) all = *limits_.known_reference;
    all.insert(all.end(), reference_ms_.begin(), reference_ms_.end());
    if (std::ssize(all) > kRemembered) all.erase(all.begin(), all.end() - kRemembered);
    return all;
  }

  // With earlier jobs' rounds where that is known to the share asked for, else this job's alone.
  std::vector<double> reported_reference() const {
    std::vector<double> all = remembered_reference();
    return median_interval(samples(all)).within(limits_.share) ? all : reference_ms_;
  }

  // Microseconds of each of the candidate's steps, the median of a few rounds.
  std::optional<replay::Stop> profile_steps(std::vector<double>& step_us) {
    std::vector<cuda::Event> marks;
    const std::size_t steps = candidate_.steps().size();
    for (std::size_t k = 0; k < steps + 2; ++k) {
      auto event = cuda::Event::make(device_.driver());
      if (!event) return fault(event.error().message);
      marks.push_back(*std::move(event));
    }
    std::vector<std::vector<double>> samples(steps);
    for (int round = 0; round < kProfiles; ++round) {
      device_.set_patience(Deadline::after(replay::kKernelPatience));
      if (auto stop = candidate_.prepare(filler_)) return stop;
      device_.kernels().hold();
      flush(candidate_);
      marks[0].record();
      marks[1].record();  // what a mark itself costs
      auto stop = candidate_.run([&](std::size_t k) { marks[k + 2].record(); });
      device_.kernels().release();
      if (auto late = late_fault()) return late;
      if (stop) return stop;
      const double empty = marks[1].milliseconds_since(marks[0]);
      for (std::size_t k = 0; k < steps; ++k)
        samples[k].push_back(1e3 *
                             std::max(0.0, marks[k + 2].milliseconds_since(marks[k + 1]) - empty));
    }
    step_us.clear();
    for (const std::vector<double>& each : samples) step_us.push_back(timing_of(each).median);
    return std::nullopt;
  }

  const plan::LaunchStep* launch_at(std::size_t k) const {
    return std::get_if<plan::LaunchStep>(&candidate_.plan().steps[candidate_.steps()[k]].action);
  }

  replay::Choices picked() const {
    replay::Choices all;
    for (const auto& [k, choice] : chosen_) {
      const plan::LaunchStep* launch = launch_at(k);
      if (launch != nullptr && launch->choices.size() > 1) all[candidate_.steps()[k]] = choice;
    }
    return all;
  }

  // Of each tuned launch the fastest alternative, as the autotuner itself would pick.
  std::optional<replay::Stop> choose_configs() {
    const std::size_t steps = candidate_.steps().size();
    std::size_t most = 1;
    for (std::size_t k = 0; k < steps; ++k)
      if (const plan::LaunchStep* launch = launch_at(k))
        most = std::max(most, launch->choices.size());
    std::vector<double> best(steps, 1e300), step_us;
    for (std::size_t choice = 0; most > 1 && choice < most && !deadline_.passed(); ++choice) {
      set_choices([&](std::size_t) { return static_cast<int>(choice); });
      if (auto stop = profile_steps(step_us)) return stop;
      for (std::size_t k = 0; k < steps; ++k) {
        const plan::LaunchStep* launch = launch_at(k);
        if (launch == nullptr || choice >= launch->choices.size() || step_us[k] >= best[k])
          continue;
        best[k] = step_us[k];
        chosen_[k] = static_cast<int>(choice);
      }
    }
    if (most > 1) set_choices([&](std::size_t k) { return chosen_[k]; });
    return std::nullopt;
  }

  void set_choices(const std::function<int(std::size_t)>& choice) {
    for (std::size_t k = 0; k < candidate_.steps().size(); ++k)
      if (launch_at(k) != nullptr) candidate_.replay().choose(candidate_.steps()[k], choice(k));
  }

  std::optional<replay::Stop> profile(referee::PlanTiming& timing) {
    std::vector<double> step_us;
    const bool is_one_launch = candidate_.steps().size() == 1 && launch_at(0) != nullptr;
    if (is_one_launch)
      step_us = {1e3 * timing_of(samples(candidate_ms_)).median};
    else if (auto stop = profile_steps(step_us))
      return stop;
    double own = 0, all = 0;
    for (std::size_t k = 0; k < step_us.size(); ++k) {
      referee::StepTiming& step = entry_of(k, timing);
      ++step.launches;
      step.device_us += step_us[k];
      all += step_us[k];
      if (step.kernel >= 0) own += step_us[k];
    }
    timing.coverage = all > 0 ? own / all : 0;
    return std::nullopt;
  }

  referee::StepTiming& entry_of(std::size_t k, referee::PlanTiming& timing) {
    referee::StepTiming wanted;
    const plan::PlanStep& step = candidate_.plan().steps[candidate_.steps()[k]];
    if (const plan::LaunchStep* launch = launch_at(k)) {
      const auto last = static_cast<int>(launch->choices.size()) - 1;
      wanted.kernel = launch->choices[static_cast<std::size_t>(std::min(chosen_[k], last))].kernel;
    } else if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) {
      wanted.op = call->op;
    } else {
      wanted.op = "constant";
    }
    for (referee::StepTiming& each : timing.steps)
      if (each.kernel == wanted.kernel && each.op == wanted.op) return each;
    return timing.steps.emplace_back(std::move(wanted));
  }

  // The reference now runs on the candidate's inputs, which it has kept away from so far.
  std::optional<replay::Stop> check_archived() {
    if (archive_.size() == 0) return std::nullopt;
    for (const auto& [index, input] : original_inputs_) reference_.replay().bind(index, input);
    auto stop = check_archive(sides(), archive_);
    archive_.clear();
    return stop;
  }

  // Where its time follows from its data, the time on new ones counts.
  std::optional<replay::Stop> meet_new_inputs(Timing& timing, std::vector<Finding>& findings) {
    auto met = time_on_new_inputs(sides(), filler_, timing.median, [this] { return time_once(); });
    if (!met) return std::move(met.error());
    auto finding = judge_new_inputs(timing.median, *met);
    if (!finding) return std::nullopt;
    if (finding->severity != Severity::reject) timing = timing_of(met->first_ms);
    findings.push_back(*std::move(finding));
    return std::nullopt;
  }

  TimedSides sides() { return {trial_, device_, candidate_, reference_, setting_}; }

  // As a round is, with the reference's turn left out.
  tl::expected<double, replay::Stop> time_once() {
    const EagerSettings eager(setting_);
    device_.set_patience(Deadline::after(2 * replay::kKernelPatience));
    if (auto stop = queue_timed(candidate_, mark(0, 0), mark(0, 1)))
      return tl::unexpected(*std::move(stop));
    if (auto late = late_fault()) return tl::unexpected(*std::move(late));
    device_.set_patience(Deadline::never());
    return milliseconds(0, 0);
  }

  static constexpr std::uint64_t kSalt = 0x74696d6564726f75;  // "timedrou"

  trial::Trial& trial_;
  device::CudaDevice& device_;
  TimingLimits limits_;
  Deadline deadline_;
  TimedSide candidate_, reference_;
  tensors::Filler filler_ = tensors::Filler::nan;
  at::Tensor flush_;
  std::span<cuda::Event> events_;  // four a round
  std::uint64_t expected_ = 0;
  bool archives_ = false, erases_ = false, reference_is_known_ = false;
  bool is_remembered_ = false;  // what the reference took in earlier jobs is known well
  double round_seconds_ = 0;
  std::array<bool, kLargestBatch> timed_reference_{};  // of the batch's rounds
  RoundPlan plan_;
  Setting setting_;
  OutputArchive archive_;
  std::vector<std::pair<int, at::Tensor>> original_inputs_;
  std::map<std::size_t, int> chosen_;  // by place in the candidate's steps
  std::vector<double> candidate_ms_, reference_ms_;
};

}  // namespace

TimingOutcome time_trial(trial::Trial& trial, device::CudaDevice& device,
                         const TimingLimits& limits) {
  return Timer(trial, device, limits).run();
}

}  // namespace tritonsmith::gym::timing
