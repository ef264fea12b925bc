// DifferenceHistogram: the distribution over tokens of |log-probability of the sampler - that of
// the trainer|. Its bins grow by a third. Histograms of micro-batches and ranks can be added.
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::train {

class DifferenceHistogram {
 public:
  static constexpr std::int64_t kBins = 64;

  DifferenceHistogram() = default;
  // Takes the result of counts(), possibly summed over ranks.
  explicit DifferenceHistogram(at::Tensor counts) : counts_(std::move(counts)) {}

  void add(const at::Tensor& differences);  // [N], all at least 0
  // Returns the number of differences in each bin, [kBins] float64 on the differences' device.
  at::Tensor counts() const;
  // Returns the centre of the bin that contains the quantile, which is within a sixth of the
  // quantile. Returns 0 if that is below 1e-7 or the histogram is empty.
  double quantile(double share) const;

 private:
  at::Tensor counts_;  // undefined: none yet
};

}  // namespace tritonsmith::train
