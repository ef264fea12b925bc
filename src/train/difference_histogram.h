// DifferenceHistogram: how |log-probability of the sampler minus the trainer's| is distributed over
// tokens, in bins that grow by a third, so that micro-batches and ranks add up.
#pragma once

#include <ATen/core/Tensor.h>

namespace tritonsmith::train {

class DifferenceHistogram {
 public:
  static constexpr std::int64_t kBins = 64;

  DifferenceHistogram() = default;
  // From counts(), which may have been summed up over ranks.
  explicit DifferenceHistogram(at::Tensor counts) : counts_(std::move(counts)) {}

  void add(const at::Tensor& differences);  // [N], not below 0
  // How many lie in each bin, [kBins] float64 on the differences' device, zeros for none.
  at::Tensor counts() const;
  // The middle of the bin that so many of the differences do not exceed: within a sixth of the
  // quantile; 0 where it is below 1e-7 or there are none.
  double quantile(double share) const;

 private:
  at::Tensor counts_;  // undefined: none yet
};

}  // namespace tritonsmith::train
