#include "gym/timing/reference_times.h"

#include "gym/timing/sampling.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr std::ptrdiff_t kRemembered = 400;  // rounds

}  // namespace

bool ReferenceTimes::is_known_from_earlier() const {
  return earlier_ != nullptr && tells(*earlier_);
}

bool ReferenceTimes::is_known() const { return tells(reported()); }

std::vector<double> ReferenceTimes::reported() const {
  std::vector<double> all = remembered();
  return tells(all) ? all : now_;
}

// Returns only this job's rounds if they disagree with those of earlier jobs, for example because
// the clock rate has changed.
std::vector<double> ReferenceTimes::remembered() const {
  std::vector<double> all;
  if (earlier_ != nullptr && confirms(samples(now_), samples(*earlier_), share_)) all = *earlier_;
  all.insert(all.end(), now_.begin(), now_.end());
  if (std::ssize(all) > kRemembered) all.erase(all.begin(), all.end() - kRemembered);
  return all;
}

std::vector<double> ReferenceTimes::samples(const std::vector<double>& rounds) const {
  return samples_of(rounds, rounds_a_sample_);
}

bool ReferenceTimes::tells(const std::vector<double>& rounds) const {
  return median_interval(samples(rounds)).within(share_);
}

}  // namespace tritonsmith::gym::timing
