// ReferenceTimes: the times that the reference took in this job's rounds and in those of earlier
// jobs. Earlier jobs count only while this job's rounds agree with them. Pure.
#pragma once

#include <vector>

#include "gym/timing/round_schedule.h"

namespace tritonsmith::gym::timing {

class ReferenceTimes {
 public:
  // `earlier` has the milliseconds of earlier jobs' rounds, or is null if nobody keeps them.
  // `share` says how near to the median both ends of its interval must be, relative to the median.
  ReferenceTimes(const std::vector<double>* earlier, double share)
      : earlier_(earlier), share_(share) {}

  // Sets the number of rounds that make one sample (round_schedule.h).
  void sample_by(int rounds) { rounds_a_sample_ = rounds; }
  void add(double milliseconds) { now_.push_back(milliseconds); }
  // Forgets this job's rounds.
  void clear() { now_.clear(); }

  // Says whether the rounds of earlier jobs alone give the median to within `share`.
  bool is_known_from_earlier() const;
  // Says whether the reported rounds give the median to within `share`.
  bool is_known() const;
  // Returns the rounds of earlier jobs and of this one if together they give the median to within
  // `share`, and otherwise this job's rounds alone.
  std::vector<double> reported() const;
  // Returns the last 400 rounds at most, for the next job.
  std::vector<double> remembered() const;

 private:
  std::vector<double> samples(const std::vector<double>& rounds) const;
  bool tells(const std::vector<double>& rounds) const;

  const std::vector<double>* earlier_;
  double share_;
  int rounds_a_sample_ = RoundSchedule{}.rounds_a_sample;
  std::vector<double> now_;
};

}  // namespace tritonsmith::gym::timing
