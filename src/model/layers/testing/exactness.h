// Helps the tests that compare our CUDA kernels with float64 on the CPU for extreme numbers. It
// defines how far an element, a row or a sum may be off.
#pragma once

#include <ATen/ATen.h>

#include <cmath>

#include "model/layers/testing/on_gpu.h"

namespace tritonsmith::model {

// Test fixture with the forward's 16-bit type as its parameter.
using OnGpuByType = OnGpuBy<at::ScalarType, 4>;

// Half a unit in the last place, the largest rounding error of the type, plus a margin for sums in
// float32.
inline double rounding(at::ScalarType type) {
  constexpr double kSums = 1e-5;
  return std::ldexp(1.0, type == at::kHalf ? -11 : type == at::kBFloat16 ? -8 : -24) + kSums;
}
// The type's smallest normal number. Below it the rounding step is constant.
inline double smallest(at::ScalarType type) {
  return std::ldexp(1.0, type == at::kHalf ? -14 : -126);
}

// Returns the largest error of an element relative to the element, or to `floor` if that is larger.
// NaN and infinity give infinity.
inline double worst(const at::Tensor& got, const at::Tensor& expected, const at::Tensor& floor) {
  const at::Tensor off = (wide(got) - expected).abs() / at::maximum(expected.abs(), floor);
  return off.isfinite().all().item<bool>() ? off.max().item<double>() : INFINITY;
}
inline double worst(const at::Tensor& got, const at::Tensor& expected, double floor) {
  return worst(got, expected, at::full({1}, floor, at::kDouble));
}
inline double worst(const at::Tensor& got, const at::Tensor& expected) {
  return worst(got, expected, smallest(got.scalar_type()));
}
// For elements that are differences: relative to the element, or to a hundredth of its row's
// largest value. A small row beside large rows is thus measured by its own size.
inline double worst_in_row(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor largest = std::get<0>(expected.abs().max(-1, /*keepdim=*/true));
  return worst(got, expected, at::clamp_min(0.01 * largest, smallest(got.scalar_type())));
}
// Limit of difference() (on_gpu.h) for sums over one or two thousand rows in float32.
inline constexpr double kSumsOfRows = 2e-5;

}  // namespace tritonsmith::model
