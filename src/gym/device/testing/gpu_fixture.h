// Provides the fixture of tests that run the referee's device on a GPU.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "gym/cuda/driver.h"
#include "gym/device/cuda_device.h"

namespace tritonsmith::gym::device {

// Returns one device for all tests of the process, because a context takes long to make. Null if
// there is no GPU.
inline CudaDevice* test_gpu() {
  static const std::unique_ptr<CudaDevice> device = [] {
    auto opened = cuda::list_gpus().empty() ? Result<std::unique_ptr<CudaDevice>>(nullptr)
                                            : CudaDevice::open(0);
    CHECK(opened, "a GPU is here but does not serve: {}", opened.error().message);
    return *std::move(opened);
  }();
  return device.get();
}

class CudaDeviceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test_gpu() == nullptr) GTEST_SKIP() << "no GPU on this machine";
    test_gpu()->begin(tensors::Filler::nan, 0);
  }
  void TearDown() override {
    if (test_gpu() != nullptr) test_gpu()->end();
  }
  static at::TensorOptions floats() { return at::dtype(at::kFloat).device(at::kCUDA); }
};

}  // namespace tritonsmith::gym::device
