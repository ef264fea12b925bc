#include "train/gradient/difference_histogram.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tritonsmith::train {
namespace {

// Decimal logarithms. The first bin also counts smaller differences, the last one larger ones.
constexpr double kSmallest = -7, kLargest = 1;

}  // namespace

void DifferenceHistogram::add(const at::Tensor& differences) {
  const at::Tensor logarithms = differences.log10().clamp(kSmallest, kLargest);
  const at::Tensor part =
      at::histc(logarithms.to(at::kFloat), kBins, kSmallest, kLargest).to(at::kDouble);
  counts_ = counts_.defined() ? counts_ + part : part;
}

at::Tensor DifferenceHistogram::counts() const {
  return counts_.defined() ? counts_ : at::zeros({kBins}, at::kDouble);
}

double DifferenceHistogram::quantile(double share) const {
  const at::Tensor reached = counts().to(at::kCPU).cumsum(0);
  const double* upto = reached.const_data_ptr<double>();
  const double wanted = share * upto[kBins - 1];
  std::int64_t bin = 0;
  while (bin + 1 < kBins && upto[bin] < wanted) ++bin;
  if (bin == 0) return 0;
  const double width = (kLargest - kSmallest) / kBins;
  return std::pow(10.0, kSmallest + width * (static_cast<double>(bin) + 0.5));
}

}  // namespace tritonsmith::train
