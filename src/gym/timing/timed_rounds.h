// TimedRounds: the rounds of a timing. A round runs the candidate, and in some rounds the reference
// after it, each on a cold cache. Rounds are queued in batches until the medians are known to the
// required share or the time is up. Each round's outputs are checked: they have the trial's bits,
// or they are archived and compared by value later.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "gym/timing/output_archive.h"
#include "gym/timing/reference_times.h"
#include "gym/timing/round_prints.h"
#include "gym/timing/sampling.h"
#include "gym/timing/timed_check.h"
#include "gym/timing/timed_run.h"
#include "gym/timing/timing.h"

namespace tritonsmith::gym::timing {

class TimedRounds {
 public:
  TimedRounds(const TimedSides& sides, const TimingLimits& limits, TimedRun& timed);

  // Gets events from the device and remembers the outputs of the trial.
  std::optional<replay::Stop> set_up();
  // Gets both sides ready for a round, outside the clock.
  std::optional<replay::Stop> prepare();
  // From now on, each run of the reference is followed by overwriting its results.
  void erase_reference() { erases_ = true; }
  bool erases_reference() const { return erases_; }
  // Runs one round. It also finds out whether the candidate gives the same bits each time. If
  // it does not (atomic additions in floating point), outputs are archived and compared by
  // value at the end.
  std::optional<replay::Stop> warm_up();
  std::optional<replay::Stop> take_samples(const Deadline& deadline);

  // Runs the candidate once by itself and returns the time in milliseconds.
  tl::expected<double, replay::Stop> time_once();

  OutputArchive& archive() { return archive_; }
  const ReferenceTimes& reference() const { return reference_times_; }
  Timing candidate_timing() const;
  Timing reference_timing() const;
  // The medians of the clocks while the rounds ran, or nothing if they could not be read.
  std::optional<Clocks> clocks() const { return median_clocks(clocks_); }

 private:
  // Returns the milliseconds between the round's marks `first` and `first` + 1, of its four.
  double milliseconds(int round, int first) const;
  cuda::Event& mark(int round, int position);
  std::optional<replay::Stop> queue_round(int round);
  std::optional<replay::Stop> queue_reference(int round);
  ReferenceTime reference_time() const;
  std::optional<replay::Stop> run_batch(int rounds);
  std::optional<replay::Stop> run_rounds(int rounds);
  int most_rounds() const;
  // Returns false if a round gave other bits than the trial.
  bool keep_times(int rounds);
  void report_round(int round);
  void start_by_value();
  std::vector<double> samples() const;

  TimedSides sides_;
  TimingLimits limits_;
  TimedRun& timed_;
  OutputArchive archive_;
  RoundPrints prints_;
  ReferenceTimes reference_times_;
  std::span<cuda::Event> events_;  // four a round
  bool archives_ = false, erases_ = false;
  bool reference_is_known_ = false;
  bool is_known_from_earlier_ = false;  // the reference's time is known from earlier jobs
  double round_seconds_ = 0;
  std::array<bool, kLargestBatch> with_reference_{};  // for each round of the batch
  RoundSchedule schedule_;
  std::vector<double> candidate_ms_;
  std::vector<Clocks> clocks_;  // one reading a batch
};

}  // namespace tritonsmith::gym::timing
