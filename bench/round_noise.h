// What rounds of equal work tell about their own noise: how far the medians of several judgements
// of one kernel lie apart, and what makes them. Pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gym/timing/timing.h"

namespace tritonsmith {

using Rounds = std::vector<gym::timing::TimedRound>;  // of one judgement, in their order
using Estimator = std::function<double(std::vector<double>)>;

double median_of(std::vector<double> values);
// The mean of the middle half: it moves little where the median would jump between two heaps.
double midmean_of(std::vector<double> values);
// The median of means of so many rounds that followed each other.
Estimator median_of_means(std::size_t group);

struct RoundNoise {
  double low_ms = 0, high_ms = 0;  // of the judgements' medians
  double apart = 0;                // high / low - 1
  double spread = 0;               // of rounds within a judgement: p90 - p10 over the median
  // The variance of the judgements' means over what independent rounds would make of it: 1 where
  // only the rounds scatter, more where something stays the same within a judgement and differs
  // between two (placement, clocks).
  double between = 0;
  double neighbours = 0;  // correlation of a round with the next
  // The best split of a judgement's rounds into two heaps: how far their means lie apart, in units
  // of the scatter within them (about 2.7 for normal samples, much more for two heaps), and which
  // share lies in the upper one.
  double heaps = 0, upper_share = 0;
  double first = 0;       // by how much the first round of a batch is slower than the others
  double referenced = 0;  // likewise rounds behind one that ran the reference
  double step_ns = 0;     // the least difference of two unequal rounds
  int rounds = 0;         // of a judgement, on average
};
RoundNoise noise_of(const std::vector<Rounds>& judgements);

// How far such estimates of the judgements lie apart.
double apart(const std::vector<Rounds>& judgements, const Estimator& estimate);

}  // namespace tritonsmith
