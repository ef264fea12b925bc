// What the tests of our own CUDA kernels share that hold them to float64 on the CPU: the fixture,
// and how far an element, a row or a sum may be off.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "model/cuda_layer.h"
#include "model/device.h"

namespace tritonsmith::model {

// By the 16-bit type of the forward. Skips where there is no GPU or no kernels in the build.
class OnGpuByType : public ::testing::TestWithParam<at::ScalarType> {
 protected:
  void SetUp() override {
    const auto device = open_device(DeviceChoice::cuda);
    if (!device) GTEST_SKIP() << device.error().message;
    if (cuda::kernels() == nullptr) GTEST_SKIP() << "this build has no CUDA kernels";
    device_ = *device;
    at::manual_seed(4);
  }
  at::Tensor normal(std::vector<std::int64_t> shape, at::ScalarType type = at::kFloat) const {
    return at::randn(shape, at::kDouble).to(type).to(device_);
  }
  cuda::Stream stream() const { return current_stream(device_); }

  c10::Device device_ = c10::kCPU;
};

inline at::Tensor wide(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble);
}

template <typename T = float>
T* data(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.mutable_data_ptr()) : nullptr;
}

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
// Of sums over many rows: by their norm.
inline double difference(const at::Tensor& got, const at::Tensor& expected) {
  const double scale = expected.norm().item<double>();
  return (wide(got) - expected).norm().item<double>() / (scale == 0 ? 1 : scale);
}
// How far that may be for a thousand rows or two, added up in float32.
inline constexpr double kSumsOfRows = 2e-5;

}  // namespace tritonsmith::model
