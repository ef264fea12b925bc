#include "gym/timing/timed_rounds.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tritonsmith::gym::timing {
namespace {

constexpr double kBatchSeconds = 0.5;
constexpr int kWarmUp = 1;
constexpr std::int64_t kArchiveBytes = std::int64_t{8} << 30;

// A reading takes about 20 us.
void read_clocks(const cuda::ClockMeter* meter, std::vector<Clocks>& readings) {
  if (meter == nullptr) return;
  if (const auto clocks = meter->now()) readings.push_back(*clocks);
}

}  // namespace

TimedRounds::TimedRounds(const TimedSides& sides, const TimingLimits& limits, TimedRun& timed)
    : sides_(sides),
      limits_(limits),
      timed_(timed),
      archive_(sides.device, sides.trial.config.secret),
      prints_(sides.device, sides.candidate),
      reference_times_(limits.known_reference, limits.share) {}

std::optional<replay::Stop> TimedRounds::set_up() {
  auto events = sides_.device.events(std::size_t{4} * kLargestBatch);
  if (!events) return infrastructure_fault(events.error().message);
  events_ = *events;
  timed_.reserve();
  timed_.poison_by([this](const at::Tensor& buffer) {
    return prints_.print_and_poison(buffer, timed_.filler());
  });
  prints_.remember_expected();
  return std::nullopt;
}

double TimedRounds::milliseconds(int round, int first) const {
  const auto at = static_cast<std::size_t>(4 * round + first);
  return events_[at + 1].milliseconds_since(events_[at]);
}

cuda::Event& TimedRounds::mark(int round, int position) {
  return events_[static_cast<std::size_t>(4 * round + position)];
}

std::optional<replay::Stop> TimedRounds::prepare() {
  if (auto stop = sides_.reference.prepare(tensors::Filler::zero))
    return as_task_failure(std::move(*stop));
  return sides_.candidate.prepare(timed_.filler());
}

// The cache is flushed before each side: a flush also leaves it full of lines that must be written
// back.
std::optional<replay::Stop> TimedRounds::queue_round(int round) {
  if (auto stop = prepare()) return stop;
  if (auto stop = timed_.queue(sides_.candidate, mark(round, 0), mark(round, 1))) return stop;
  const std::vector<at::Tensor> outputs = sides_.candidate.outputs();
  if (archives_)
    archive_.keep(outputs);
  else
    prints_.add(outputs, round);
  sides_.candidate.forget_copies(outputs);
  const int nth = static_cast<int>(candidate_ms_.size()) + round;
  const bool with_reference = runs_reference(schedule_, nth, reference_time());
  with_reference_[static_cast<std::size_t>(round)] = with_reference;
  return with_reference ? queue_reference(round) : std::nullopt;
}

std::optional<replay::Stop> TimedRounds::queue_reference(int round) {
  if (auto stop = timed_.queue(sides_.reference, mark(round, 2), mark(round, 3)))
    return as_task_failure(std::move(*stop));
  if (erases_) trial::forget_expected(sides_.trial);
  return std::nullopt;
}

ReferenceTime TimedRounds::reference_time() const {
  if (reference_is_known_) return ReferenceTime::known;
  return is_known_from_earlier_ ? ReferenceTime::remembered : ReferenceTime::unknown;
}

// Every round may take as long as a trial may take.
std::optional<replay::Stop> TimedRounds::run_batch(int rounds) {
  const Stopwatch watch;
  sides_.device.set_patience(Deadline::after((rounds + 1) * 2 * replay::kKernelPatience));
  const auto ended = run_rounds(rounds);
  round_seconds_ = watch.seconds() / rounds;
  return ended;
}

std::optional<replay::Stop> TimedRounds::run_rounds(int rounds) {
  prints_.begin_batch(rounds);
  for (int round = 0; round < rounds; ++round)
    if (auto stop = queue_round(round)) return late_fault(sides_.device).value_or(std::move(*stop));
  prints_.end_batch(rounds);
  // The GPU still works on these rounds, and this thread would only wait for it.
  read_clocks(limits_.clocks, clocks_);
  return late_fault(sides_.device);
}

std::optional<replay::Stop> TimedRounds::warm_up() {
  if (auto stop = run_batch(kWarmUp)) return stop;
  clocks_.clear();
  schedule_ = round_schedule(milliseconds(0, 0));
  reference_times_.sample_by(schedule_.rounds_a_sample);
  is_known_from_earlier_ = reference_times_.is_known_from_earlier();
  for (int round = 0; round < kWarmUp; ++round)
    archives_ = archives_ || !prints_.is_expected(round);
  return std::nullopt;
}

int TimedRounds::most_rounds() const {
  if (!archives_) return limits_.most_rounds;
  std::int64_t bytes = 1;
  for (const at::Tensor& output : sides_.candidate.outputs())
    bytes += static_cast<std::int64_t>(output.nbytes());
  return static_cast<int>(std::clamp<std::int64_t>(kArchiveBytes / bytes, 3, 50));
}

std::optional<replay::Stop> TimedRounds::take_samples(const Deadline& deadline) {
  int most = most_rounds();
  while (static_cast<int>(candidate_ms_.size()) < most) {
    const double wanted = candidate_ms_.empty() ? schedule_.fewest : schedule_.batch;
    const auto fit = static_cast<int>(std::clamp(kBatchSeconds / round_seconds_, 1.0, wanted));
    const int rounds = std::min(fit, most - static_cast<int>(candidate_ms_.size()));
    if (auto stop = run_batch(rounds)) return stop;
    if (!keep_times(rounds)) {
      start_by_value();
      most = most_rounds();
      continue;
    }
    reference_is_known_ = !sides_.trial.reference_replays() || reference_times_.is_known();
    const bool tight = median_interval(samples()).within(limits_.share);
    const bool enough = std::ssize(candidate_ms_) >= limits_.least_rounds;
    if ((tight && enough && reference_is_known_) || deadline.passed()) return std::nullopt;
  }
  return std::nullopt;
}

bool TimedRounds::keep_times(int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const auto at = static_cast<std::size_t>(round);
    if (!archives_ && !prints_.is_expected(round)) return false;
    candidate_ms_.push_back(milliseconds(round, 0));
    report_round(round);
    if (with_reference_.at(at)) reference_times_.add(milliseconds(round, 2));
  }
  return true;
}

void TimedRounds::report_round(int round) {
  if (limits_.rounds != nullptr)
    limits_.rounds->push_back({.candidate_ms = candidate_ms_.back(),
                               .is_first = round == 0,
                               .with_reference = with_reference_[static_cast<std::size_t>(round)]});
}

// Starts the rounds once more and compares their outputs by value. The warm-up was not enough to
// see that the bits differ from run to run, so only the outputs of the new rounds count.
void TimedRounds::start_by_value() {
  archives_ = true;
  reference_is_known_ = false;
  candidate_ms_.clear();
  clocks_.clear();
  reference_times_.clear();
  if (limits_.rounds != nullptr) limits_.rounds->clear();
}

std::vector<double> TimedRounds::samples() const {
  return samples_of(candidate_ms_, schedule_.rounds_a_sample);
}

Timing TimedRounds::candidate_timing() const { return timing_of(samples()); }

Timing TimedRounds::reference_timing() const {
  return timing_of(samples_of(reference_times_.reported(), schedule_.rounds_a_sample));
}

// Runs a round without the reference.
tl::expected<double, replay::Stop> TimedRounds::time_once() {
  const EagerSettings eager(sides_.setting);
  sides_.device.set_patience(Deadline::after(2 * replay::kKernelPatience));
  if (auto stop = timed_.queue(sides_.candidate, mark(0, 0), mark(0, 1)))
    return tl::unexpected(*std::move(stop));
  if (auto late = late_fault(sides_.device)) return tl::unexpected(*std::move(late));
  sides_.device.set_patience(Deadline::never());
  return milliseconds(0, 0);
}

}  // namespace tritonsmith::gym::timing
