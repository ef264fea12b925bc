// FakeDriver: a table of driver functions that touch no GPU and record the launches. They are plain
// functions and therefore share one record, which a test clears first.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

struct FakeLaunch {
  CUlaunchConfig config{};
  std::vector<std::uint64_t> parameters;  // as many as the test expects
};

struct FakeNotes {
  std::size_t parameters = 0;       // how many parameters the test's kernels take
  std::size_t parameter_bytes = 8;  // of each parameter
  CUresult launch_result = CUDA_SUCCESS;
  int polls_until_done = 0;
  std::vector<FakeLaunch> launches;
  std::vector<int> shared_bytes;       // as requested, in order
  int modules = 0;                     // loaded at present
  std::vector<std::size_t> allocated;  // bytes, in order
  int freed = 0;
};
inline FakeNotes& fake_notes() {
  static FakeNotes notes;
  return notes;
}

inline Driver fake_driver() {
  fake_notes() = {};
  Driver driver;
  driver.get_error_name = [](CUresult, const char** name) {
    *name = "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
  };
  driver.module_load_data = [](CUmodule* module, const void*) {
    *module = reinterpret_cast<CUmodule>(std::uintptr_t{1});
    ++fake_notes().modules;
    return CUDA_SUCCESS;
  };
  driver.module_unload = [](CUmodule) {
    --fake_notes().modules;
    return CUDA_SUCCESS;
  };
  driver.module_get_function = [](CUfunction* function, CUmodule, const char* name) {
    if (std::string(name) == "missing") return CUDA_ERROR_NOT_FOUND;
    *function = reinterpret_cast<CUfunction>(std::uintptr_t{2});
    return CUDA_SUCCESS;
  };
  driver.function_set_attribute = [](CUfunction, CUfunction_attribute attribute, int value) {
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
      fake_notes().shared_bytes.push_back(value);
    return CUDA_SUCCESS;
  };
  driver.function_get_parameter = [](CUfunction, std::size_t index, std::size_t* offset,
                                     std::size_t* bytes) {
    if (index >= fake_notes().parameters) return CUDA_ERROR_INVALID_VALUE;
    *offset = 8 * index;
    *bytes = fake_notes().parameter_bytes;
    return CUDA_SUCCESS;
  };
  driver.launch_kernel = [](const CUlaunchConfig* config, CUfunction, void** parameters, void**) {
    FakeLaunch launch{.config = *config};
    for (std::size_t k = 0; k < fake_notes().parameters; ++k)
      launch.parameters.push_back(*static_cast<std::uint64_t*>(parameters[k]));
    fake_notes().launches.push_back(std::move(launch));
    return fake_notes().launch_result;
  };
  driver.memory_alloc = [](CUdeviceptr* memory, std::size_t bytes) {
    fake_notes().allocated.push_back(bytes);
    *memory = 0x10000 * fake_notes().allocated.size();
    return CUDA_SUCCESS;
  };
  driver.memory_free = [](CUdeviceptr) {
    ++fake_notes().freed;
    return CUDA_SUCCESS;
  };
  driver.event_create = [](CUevent* event, unsigned) {
    *event = reinterpret_cast<CUevent>(std::uintptr_t{3});
    return CUDA_SUCCESS;
  };
  driver.event_destroy = [](CUevent) { return CUDA_SUCCESS; };
  driver.event_record = [](CUevent, CUstream) { return CUDA_SUCCESS; };
  driver.event_query = [](CUevent) {
    return --fake_notes().polls_until_done < 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  };
  return driver;
}

}  // namespace tritonsmith::gym::cuda
