// ReferenceTimes: what the reference took in this job's rounds and in those of earlier jobs.
// Earlier jobs count only while this job's rounds agree with them. Pure.
#pragma once

#include <vector>

#include "gym/timing/round_plan.h"

namespace tritonsmith::gym::timing {

class ReferenceTimes {
 public:
  // `earlier` are milliseconds of earlier jobs; null where nobody keeps them. `share` is how near
  // to the median both ends of its interval must be.
  ReferenceTimes(const std::vector<double>* earlier, double share)
      : earlier_(earlier), share_(share) {}

  // How many rounds make a sample (round_plan.h).
  void sample_by(int rounds) { rounds_a_sample_ = rounds; }
  void add(double milliseconds) { now_.push_back(milliseconds); }
  // Forgets this job's rounds.
  void clear() { now_.clear(); }

  // Whether earlier jobs alone tell the median to the share.
  bool is_known_from_earlier() const;
  // Whether the reported rounds tell the median to the share.
  bool is_known() const;
  // With the rounds of earlier jobs where all of them together tell the median to the share, else
  // this job's alone.
  std::vector<double> reported() const;
  // The last few hundred rounds, for the next job.
  std::vector<double> remembered() const;

 private:
  std::vector<double> samples(const std::vector<double>& rounds) const;
  bool tells(const std::vector<double>& rounds) const;

  const std::vector<double>* earlier_;
  double share_;
  int rounds_a_sample_ = RoundPlan{}.rounds_a_sample;
  std::vector<double> now_;
};

}  // namespace tritonsmith::gym::timing
