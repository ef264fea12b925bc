// What the tests of our own CUDA kernels share that hold them to float64 on the CPU, where numbers
// are extreme: how far an element, a row or a sum may be off.
#pragma once

#include <ATen/ATen.h>

#include <cmath>

#include "model/testing/on_gpu.h"

namespace tritonsmith::model {

// By the 16-bit type of the forward.
using OnGpuByType = OnGpuBy<at::ScalarType, 4>;

// Half a unit of the last place, by which rounding to the type may be off, and a little for sums in
// float32.
inline double rounding(at::ScalarType type) {
  constexpr double kSums = 1e-5;
  return std::ldexp(1.0, type == at::kHalf ? -11 : type == at::kBFloat16 ? -8 : -24) + kSums;
}
// Below its smallest normal number a type rounds by a fixed step.
inline double smallest(at::ScalarType type) {
  return std::ldexp(1.0, type == at::kHalf ? -14 : -126);
}

// The largest error of an element as a share of the element itself, or of `floor` where that is
// more; NaN and infinity never pass.
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
// Where an element is a difference: as a share of itself or of a hundredth of its row's largest, so
// that a small row beside large ones is held to its own size.
inline double worst_in_row(const at::Tensor& got, const at::Tensor& expected) {
  const at::Tensor largest = std::get<0>(expected.abs().max(-1, /*keepdim=*/true));
  return worst(got, expected, at::clamp_min(0.01 * largest, smallest(got.scalar_type())));
}
// How far the difference (on_gpu.h) of sums over a thousand rows or two may be, added up in
// float32.
inline constexpr double kSumsOfRows = 2e-5;

}  // namespace tritonsmith::model
