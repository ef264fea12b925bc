#include "gym/cuda/nvml.h"

#include <dlfcn.h>

namespace tritonsmith::gym::cuda {
namespace {

template <typename Function>
Status find_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr ? ok() : fail("NVIDIA's management library lacks {}", name);
}

}  // namespace

Result<Nvml> load_nvml() {
  void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return fail("NVIDIA's management library is missing: {}", ::dlerror());
  Nvml nvml;
  TRY(find_symbol(library, "nvmlInit_v2", nvml.init));
  TRY(find_symbol(library, "nvmlDeviceGetHandleByPciBusId_v2", nvml.device_by_bus_id));
  TRY(find_symbol(library, "nvmlDeviceGetUUID", nvml.device_uuid));
  TRY(find_symbol(library, "nvmlDeviceGetClockInfo", nvml.clock_info));
  TRY(find_symbol(library, "nvmlEventSetCreate", nvml.event_set_create));
  TRY(find_symbol(library, "nvmlEventSetFree", nvml.event_set_free));
  TRY(find_symbol(library, "nvmlDeviceRegisterEvents", nvml.register_events));
  TRY(find_symbol(library, "nvmlEventSetWait_v2", nvml.event_set_wait));
  return nvml;
}

int find_device(const Nvml& nvml, const std::string& bus_id, Nvml::Device& device) {
  const std::string with_function = bus_id + ".0";
  return nvml.device_by_bus_id(with_function.c_str(), &device);
}

Result<ClockMeter> ClockMeter::open(const Nvml& nvml, const std::string& bus_id) {
  if (const int code = nvml.init(); code != 0)
    return fail("NVIDIA's management library does not start (code {})", code);
  Nvml::Device device = nullptr;
  if (const int code = find_device(nvml, bus_id, device); code != 0)
    return fail("NVIDIA's management library does not know the GPU at {} (code {})", bus_id, code);
  const ClockMeter meter(nvml, device);
  if (!meter.now()) return fail("the driver does not tell the clocks of the GPU at {}", bus_id);
  return meter;
}

std::optional<Clocks> ClockMeter::now() const {
  unsigned multiprocessors = 0, memory = 0;
  if (nvml_.clock_info(device_, Nvml::kMultiprocessorClock, &multiprocessors) != 0 ||
      nvml_.clock_info(device_, Nvml::kMemoryClock, &memory) != 0)
    return std::nullopt;
  return Clocks{.sm_mhz = static_cast<int>(multiprocessors),
                .memory_mhz = static_cast<int>(memory)};
}

}  // namespace tritonsmith::gym::cuda
