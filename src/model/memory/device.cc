#include "model/memory/device.h"

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>

#include "base/check.h"

namespace tritonsmith::model {
namespace {

// Calls cuInit and cuDeviceGetCount directly. That is cheap and does not touch LibTorch's state on
// a machine without a driver.
Status find_gpu() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (driver == nullptr) return fail("no NVIDIA driver (libcuda.so.1) on this machine");
  const auto init = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  const auto count = reinterpret_cast<int (*)(int*)>(::dlsym(driver, "cuDeviceGetCount"));
  if (init == nullptr || count == nullptr) return fail("libcuda.so.1 is not a CUDA driver");
  if (const int code = init(0); code != 0)
    return fail("the NVIDIA driver does not start (cuInit gives error {})", code);
  int gpus = 0;
  if (count(&gpus) != 0 || gpus == 0) return fail("the NVIDIA driver sees no GPU");
  return ok();
}

Status load_cuda() {
  TRY(find_gpu());
  if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr)
    return fail("cannot load LibTorch's CUDA library: {}", ::dlerror());
  if (!at::hasCUDA()) return fail("LibTorch finds no usable GPU");
  return ok();
}

}  // namespace

Result<c10::Device> open_device(DeviceChoice choice) {
  if (choice == DeviceChoice::cpu) return c10::Device(c10::kCPU);
  static const Status loaded = load_cuda();
  if (loaded) return c10::Device(c10::kCUDA, 0);
  if (choice == DeviceChoice::cuda)
    return fail("cannot use a GPU: {}; choose the device cpu", loaded.error().message);
  return c10::Device(c10::kCPU);
}

std::size_t spare_bytes(c10::Device device) {
  using c10::CachingAllocator::StatType;
  CHECK(device.is_cuda(), "only a GPU's memory is counted");
  auto* allocator = c10::getDeviceAllocator(device.type());
  const c10::DeviceIndex index = device.has_index() ? device.index() : c10::DeviceIndex{0};
  const auto stats = allocator->getDeviceStats(index);
  const auto all = static_cast<std::size_t>(StatType::AGGREGATE);
  const auto reserved = static_cast<std::size_t>(stats.reserved_bytes[all].current);
  const auto most = static_cast<std::size_t>(stats.allocated_bytes[all].peak);
  const std::size_t within_reach = allocator->getMemoryInfo(index).first + reserved;
  return within_reach > most ? within_reach - most : 0;
}

}  // namespace tritonsmith::model
