// Driver: NVIDIA's driver, loaded with dlopen at run time, so that the same program starts on a
// machine without it. The functions have the names of the driver API without its prefix. Tests fill
// the table with their own functions. Any thread may call them; the current context belongs to a
// thread.
#pragma once

#include <cuda.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace tritonsmith::gym::cuda {

struct Driver {
  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driver_get_version = nullptr;
  decltype(&::cuGetErrorName) get_error_name = nullptr;
  decltype(&::cuDeviceGetCount) device_get_count = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_get_name = nullptr;
  decltype(&::cuDeviceGetUuid_v2) device_get_uuid = nullptr;
  decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&::cuDeviceTotalMem) device_total_memory = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) primary_context_retain = nullptr;
  decltype(&::cuCtxSetCurrent) context_set_current = nullptr;
  decltype(&::cuModuleLoadData) module_load_data = nullptr;
  decltype(&::cuModuleUnload) module_unload = nullptr;
  decltype(&::cuModuleGetFunction) module_get_function = nullptr;
  decltype(&::cuFuncSetAttribute) function_set_attribute = nullptr;
  decltype(&::cuFuncGetParamInfo) function_get_parameter = nullptr;
  decltype(&::cuFuncGetAttribute) function_get_attribute = nullptr;
  decltype(&::cuLaunchKernelEx) launch_kernel = nullptr;
  decltype(&::cuMemGetInfo) memory_get_info = nullptr;
  decltype(&::cuMemAlloc) memory_alloc = nullptr;
  decltype(&::cuMemFree) memory_free = nullptr;
  decltype(&::cuMemAllocHost) memory_alloc_host = nullptr;
  decltype(&::cuMemFreeHost) memory_free_host = nullptr;
  decltype(&::cuMemsetD8Async) memset_async = nullptr;
  decltype(&::cuMemcpyDtoHAsync) copy_to_host_async = nullptr;
  decltype(&::cuMemcpyDtoDAsync) copy_on_device_async = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventDestroy) event_destroy = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;
  decltype(&::cuEventQuery) event_query = nullptr;
  decltype(&::cuEventElapsedTime) event_elapsed_time = nullptr;
};

// Loads and initialises the driver once per process. Fails with the reason if the machine has none.
Result<const Driver*> load_driver();

// Fails with "what: CUDA_ERROR_NAME" if `result` is an error.
Status checked(const Driver& driver, CUresult result, std::string_view what);

// Facts about a GPU, for verdicts and for timing.
struct GpuFacts {
  std::string name;
  std::string target;            // "sm_90"
  std::string bus_id;            // "0000:1b:00", its PCI address
  std::string uuid;              // "GPU-5c8f...": it stays with the board
  std::string driver;            // "580.159.03", or the CUDA version that it supports
  std::int64_t cache_bytes = 0;  // L2
  double bytes_per_second = 0;   // peak of the device memory; 0: unknown
  double flops_per_second = 0;   // peak of products of 16-bit numbers; 0: unknown
  std::int64_t multiprocessors = 0;
  // The properties that a guest's Python sees, by the names of torch.cuda.get_device_properties.
  std::vector<std::pair<std::string, std::int64_t>> properties;
};
Result<GpuFacts> facts_of(const Driver& driver, int ordinal);

// Returns the GPUs that this process may use, which CUDA_VISIBLE_DEVICES can limit. An empty list
// is no failure.
std::vector<GpuFacts> list_gpus();

}  // namespace tritonsmith::gym::cuda
