#include "gym/cuda/driver.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <utility>

#include "base/file.h"

namespace tritonsmith::gym::cuda {
namespace {

template <typename Function>
Status find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr ? ok() : fail("the NVIDIA driver lacks {}", name);
}

// The names have the suffixes that cuda.h adds with macros.
Status find_all(void* library, Driver& driver) {
  TRY(find(library, "cuInit", driver.init));
  TRY(find(library, "cuDriverGetVersion", driver.driver_get_version));
  TRY(find(library, "cuGetErrorName", driver.get_error_name));
  TRY(find(library, "cuDeviceGetCount", driver.device_get_count));
  TRY(find(library, "cuDeviceGet", driver.device_get));
  TRY(find(library, "cuDeviceGetName", driver.device_get_name));
  TRY(find(library, "cuDeviceGetUuid_v2", driver.device_get_uuid));
  TRY(find(library, "cuDeviceGetAttribute", driver.device_get_attribute));
  TRY(find(library, "cuDeviceTotalMem_v2", driver.device_total_memory));
  TRY(find(library, "cuDevicePrimaryCtxRetain", driver.primary_context_retain));
  TRY(find(library, "cuCtxSetCurrent", driver.context_set_current));
  TRY(find(library, "cuModuleLoadData", driver.module_load_data));
  TRY(find(library, "cuModuleUnload", driver.module_unload));
  TRY(find(library, "cuModuleGetFunction", driver.module_get_function));
  TRY(find(library, "cuFuncSetAttribute", driver.function_set_attribute));
  TRY(find(library, "cuFuncGetParamInfo", driver.function_get_parameter));
  TRY(find(library, "cuFuncGetAttribute", driver.function_get_attribute));
  TRY(find(library, "cuLaunchKernelEx", driver.launch_kernel));
  TRY(find(library, "cuMemGetInfo_v2", driver.memory_get_info));
  TRY(find(library, "cuMemAlloc_v2", driver.memory_alloc));
  TRY(find(library, "cuMemFree_v2", driver.memory_free));
  TRY(find(library, "cuMemAllocHost_v2", driver.memory_alloc_host));
  TRY(find(library, "cuMemFreeHost", driver.memory_free_host));
  TRY(find(library, "cuMemsetD8Async", driver.memset_async));
  TRY(find(library, "cuMemcpyDtoHAsync_v2", driver.copy_to_host_async));
  TRY(find(library, "cuMemcpyDtoDAsync_v2", driver.copy_on_device_async));
  TRY(find(library, "cuEventCreate", driver.event_create));
  TRY(find(library, "cuEventDestroy_v2", driver.event_destroy));
  TRY(find(library, "cuEventRecord", driver.event_record));
  TRY(find(library, "cuEventQuery", driver.event_query));
  return find(library, "cuEventElapsedTime", driver.event_elapsed_time);
}

Result<Driver> open_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) return fail("no NVIDIA driver (libcuda.so.1) on this machine");
  Driver driver;
  TRY(find_all(library, driver));
  TRY(checked(driver, driver.init(0), "the NVIDIA driver does not start"));
  return driver;
}

int attribute(const Driver& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  return driver.device_get_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

// Returns the properties that the driver knows.
std::vector<std::pair<std::string, std::int64_t>> properties_of(const Driver& driver,
                                                                CUdevice device) {
  constexpr auto kNamed = std::to_array<std::pair<const char*, CUdevice_attribute>>(
      {{"multi_processor_count", CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
       {"warp_size", CU_DEVICE_ATTRIBUTE_WARP_SIZE},
       {"max_threads_per_multi_processor", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
       {"max_threads_per_block", CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
       {"regs_per_multiprocessor", CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
       {"shared_memory_per_block", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
       {"shared_memory_per_block_optin", CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
       {"shared_memory_per_multiprocessor",
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
       {"L2_cache_size", CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
       {"clock_rate", CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
       {"memory_clock_rate", CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
       {"memory_bus_width", CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH}});
  std::vector<std::pair<std::string, std::int64_t>> all;
  for (const auto& [name, which] : kNamed)
    if (const int value = attribute(driver, device, which); value > 0)
      all.emplace_back(name, value);
  std::size_t bytes = 0;
  if (driver.device_total_memory(&bytes, device) == CUDA_SUCCESS)
    all.emplace_back("total_memory", static_cast<std::int64_t>(bytes));
  return all;
}

// Writes the UUID as nvidia-smi does. The driver does not tell a GPU's from a slice's.
std::string uuid_of(const Driver& driver, CUdevice device) {
  CUuuid uuid{};
  if (driver.device_get_uuid(&uuid, device) != CUDA_SUCCESS) return "";
  std::string text = "GPU";
  for (std::size_t k = 0; k < sizeof uuid.bytes; ++k) {
    if (k == 0 || k == 4 || k == 6 || k == 8 || k == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[k])));
  }
  return text;
}

std::string driver_version(const Driver& driver) {
  if (auto text = read_file("/sys/module/nvidia/version")) {
    while (!text->empty() && text->back() == '\n') text->pop_back();
    return *text;
  }
  int version = 0;
  driver.driver_get_version(&version);
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

// Returns the dense operations of a multiprocessor's tensor cores per clock, from NVIDIA's tables.
// 0 for a chip that is not listed here.
double flops_of_a_clock(std::string_view target) {
  if (target == "sm_80" || target == "sm_86" || target == "sm_89") return 2048;
  if (target == "sm_90") return 4096;
  return target == "sm_100" || target == "sm_103" ? 8192 : 0;
}

}  // namespace

Result<const Driver*> load_driver() {
  static const Result<Driver> driver = open_driver();
  if (!driver) return tl::unexpected(driver.error());
  return &*driver;
}

Status checked(const Driver& driver, CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return ok();
  const char* name = nullptr;
  if (driver.get_error_name(result, &name) != CUDA_SUCCESS || name == nullptr)
    return fail_by_fault("{}: CUDA error {}", what, static_cast<int>(result));
  return fail_by_fault("{}: {}", what, name);
}

Result<GpuFacts> facts_of(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  TRY(checked(driver, driver.device_get(&device, ordinal), "no such GPU"));
  GpuFacts facts;
  std::array<char, 256> name{};
  TRY(checked(driver, driver.device_get_name(name.data(), static_cast<int>(name.size()), device),
              "the GPU has no name"));
  facts.name = name.data();
  facts.target = fmt::format(
      "sm_{}{}", attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
      attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  facts.bus_id = fmt::format("{:04x}:{:02x}:{:02x}",
                             attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                             attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                             attribute(driver, device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  facts.uuid = uuid_of(driver, device);
  facts.driver = driver_version(driver);
  facts.cache_bytes = attribute(driver, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts.multiprocessors = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  const double kilohertz = attribute(driver, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  const double bits = attribute(driver, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  facts.bytes_per_second = 2 * kilohertz * 1e3 * bits / 8;  // two transfers a clock
  facts.flops_per_second =
      1e3 * static_cast<double>(attribute(driver, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)) *
      static_cast<double>(facts.multiprocessors) * flops_of_a_clock(facts.target);
  facts.properties = properties_of(driver, device);
  return facts;
}

std::vector<GpuFacts> list_gpus() {
  std::vector<GpuFacts> gpus;
  const auto driver = load_driver();
  int count = 0;
  if (!driver || (*driver)->device_get_count(&count) != CUDA_SUCCESS) return gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal)
    if (auto facts = facts_of(**driver, ordinal)) gpus.push_back(*std::move(facts));
  return gpus;
}

}  // namespace tritonsmith::gym::cuda
