// Helps tests that run on a GPU. It has a fixture that skips with a reason if there is no GPU or
// the build has no kernels. It also moves tensors to the GPU and back as float64, and has a narrow
// model. testing/exactness.h compares elements with float64.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "model/config/config.h"
#include "model/cublas/cublas.h"
#include "model/cuda/kernels.h"
#include "model/memory/device.h"

namespace tritonsmith::model {

// kSeed seeds LibTorch's generators before each test.
template <std::uint64_t kSeed, typename Base = ::testing::Test>
class OnGpu : public Base {
 protected:
  void SetUp() override {
    const auto device = open_device(DeviceChoice::cuda);
    if (!device) GTEST_SKIP() << device.error().message;
    if (cuda::kernels() == nullptr) GTEST_SKIP() << "this build has no CUDA kernels";
    device_ = *device;
    at::manual_seed(kSeed);
  }
  at::Tensor normal(std::vector<std::int64_t> shape, at::ScalarType type = at::kFloat) const {
    return at::randn(shape, at::kDouble).to(type).to(device_);
  }
  at::Tensor ints(const std::vector<int>& values) const {
    return at::tensor(values, at::kInt).to(device_);
  }
  cuda::Stream stream() const { return current_stream(device_); }

  c10::Device device_ = c10::kCPU;
};
template <typename Parameter, std::uint64_t kSeed>
using OnGpuBy = OnGpu<kSeed, ::testing::TestWithParam<Parameter>>;

inline at::Tensor wide(const at::Tensor& tensor) {
  return tensor.detach().to(at::kCPU, at::kDouble);
}

// Returns the pointer for a kernel, null for an undefined tensor.
template <typename T = float>
T* data(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.mutable_data_ptr()) : nullptr;
}

// |got - expected| / |expected|. NaN exceeds every limit, so two tensors of zeros do not pass.
inline double difference(const at::Tensor& got, const at::Tensor& expected) {
  return (wide(got) - wide(expected)).norm().item<double>() / wide(expected).norm().item<double>();
}
// The largest difference() that rounding to the type gives for many numbers.
inline double rounding_of_norm(at::ScalarType type) { return type == at::kHalf ? 5e-4 : 4e-3; }

// Four query heads and two key-value heads, in a size that our kernels support.
inline ModelConfig narrow_model(Family family = Family::qwen2, std::int64_t head_dim = 32) {
  return {.family = family,
          .vocab_size = 512,
          .hidden_size = 4 * head_dim,
          .intermediate_size = 352,
          .num_hidden_layers = 3,
          .num_attention_heads = 4,
          .num_key_value_heads = 2,
          .head_dim = head_dim,
          .max_position_embeddings = 1024,
          .initializer_range = 0.1};
}

}  // namespace tritonsmith::model
