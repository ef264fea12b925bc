// The noise in rounds of equal work: the variation of the medians over several judgements of one
// kernel, and its causes. The functions are pure.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gym/timing/timing.h"

namespace tritonsmith {

using Rounds = std::vector<gym::timing::TimedRound>;  // of one judgement, in their order
using Estimator = std::function<double(std::vector<double>)>;

double median_of(std::vector<double> values);
// Returns the mean of the middle half. It moves little when the median would jump between two
// heaps.
double midmean_of(std::vector<double> values);
// Returns the median of the means of `group` consecutive rounds.
Estimator median_of_means(std::size_t group);

struct RoundNoise {
  double low_ms = 0, high_ms = 0;  // of the judgements' medians
  double apart = 0;                // high / low - 1
  double spread = 0;               // within a judgement: p90 - p10 over the median
  // The variance of the judgements' means, divided by its value for independent rounds. It is 1 if
  // only the rounds scatter. It is larger if a factor is constant within a judgement and differs
  // between judgements (placement, clocks).
  double between = 0;
  double neighbours = 0;  // correlation of a round with the next
  // The best split of a judgement's rounds into two heaps. heaps is the distance of their means in
  // units of the scatter within them: about 2.7 for normal samples, much more for two heaps.
  // upper_share is the share of rounds in the upper heap.
  double heaps = 0, upper_share = 0;
  double first = 0;       // how much slower the first round of a batch is than the others
  double referenced = 0;  // likewise for rounds after one of the reference
  double step_ns = 0;     // the smallest difference of two unequal rounds
  int rounds = 0;         // in a judgement, on average
};
RoundNoise noise_of(const std::vector<Rounds>& judgements);

// Returns the relative difference of such estimates between judgements.
double apart(const std::vector<Rounds>& judgements, const Estimator& estimate);

}  // namespace tritonsmith
