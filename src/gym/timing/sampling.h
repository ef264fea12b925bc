// Summarises samples and decides when enough were taken: the median with a confidence interval that
// assumes nothing about the distribution. Pure.
#pragma once

#include <optional>
#include <vector>

#include "data/verdict.h"

namespace tritonsmith::gym::timing {

// The 95 % interval of the median by order statistics (Conover, Practical Nonparametric Statistics,
// 3.2). Its ends are two samples, equally far from both ends of the sorted samples. The binomial
// distribution gives the ranks: the median lies below the low end with a probability of at most 2.5
// %, and above the high end likewise. The interval is unknown below six samples.
struct MedianInterval {
  double low = 0, median = 0, high = 0;
  bool known = false;
  // Says whether both ends are within this share of the median.
  bool within(double share) const {
    return known && high - median <= share * median && median - low <= share * median;
  }
};
MedianInterval median_interval(std::vector<double> samples);

// Says whether earlier samples may be counted with today's. Today's interval must agree with the
// median of the earlier samples to within this share.
bool confirms(const std::vector<double>& now, const std::vector<double>& earlier, double share);

// Returns the means of `group` consecutive rounds, without the remainder at the end. Where rounds
// alternate between two times, their median jumps from one time to the other. Means of two rounds
// lie between them.
std::vector<double> means_of(const std::vector<double>& rounds, int group);

// Returns the samples for an interval: those means, or the rounds themselves where there are
// too few rounds.
std::vector<double> samples_of(const std::vector<double>& rounds, int group);

// Returns the median of each clock, or nothing without a reading.
std::optional<Clocks> median_clocks(const std::vector<Clocks>& readings);

// Summarises these samples. The summary has the interval where it is known.
Timing timing_of(std::vector<double> milliseconds);

}  // namespace tritonsmith::gym::timing
