// Decides when to stop measuring and summarises samples: the median with a confidence interval that
// assumes nothing about the distribution. Pure.
#pragma once

#include <vector>

#include "data/verdict.h"

namespace tritonsmith::gym::timing {

// The 95 % interval of the median by order statistics: the two ranks, equally far from both ends,
// beyond each of which the median lies with a probability of at most 2.5 %, by the binomial
// distribution (Conover, Practical Nonparametric Statistics, 3.2). Unknown below six samples.
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
// today's interval reaches as near to it.
bool confirms(const std::vector<double>& now, const std::vector<double>& earlier, double share);

// Means of `group` rounds that followed each other, without the remainder at the end. Where rounds
// alternate between two times, their median jumps from one to the other. Means of two rounds lie
// between them.
std::vector<double> means_of(const std::vector<double>& rounds, int group);

// Samples for an interval: those means, or the rounds themselves where there are too few rounds.
std::vector<double> samples_of(const std::vector<double>& rounds, int group);

// The summary of these samples. It has the interval where that is known.
Timing timing_of(std::vector<double> milliseconds);

}  // namespace tritonsmith::gym::timing
