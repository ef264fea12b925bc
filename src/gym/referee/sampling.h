// When to stop measuring, and what was measured: the median with a confidence interval that assumes
// nothing of the distribution. Pure.
#pragma once

#include <vector>

#include "data/verdict.h"

namespace tritonsmith::gym {

// The 95 % interval of the median by order statistics: the ranks n/2 -+ 1.96 sqrt(n)/2 (Conover,
// Practical Nonparametric Statistics, 3.2). False where there are too few samples for one.
struct MedianInterval {
  double low = 0, median = 0, high = 0;
  bool known = false;
  // Both ends within this share of the median.
  bool within(double share) const {
    return known && high - median <= share * median && median - low <= share * median;
  }
};
MedianInterval median_interval(std::vector<double> samples);

// Whether earlier samples may be counted with today's: their median is known to this share, and
// today's interval, for its part, reaches as near to it.
bool confirms(const std::vector<double>& now, const std::vector<double>& earlier, double share);

Timing timing_of(std::vector<double> milliseconds);

}  // namespace tritonsmith::gym
