#include "gym/cuda/context.h"

#include <thread>
#include <utility>

namespace tritonsmith::gym::cuda {

Status use_device(const Driver& driver, int ordinal) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  TRY(checked(driver, driver.device_get(&device, ordinal), "no such GPU"));
  TRY(checked(driver, driver.primary_context_retain(&context, device), "the GPU is not to be had"));
  return checked(driver, driver.context_set_current(context), "the GPU's context");
}

bool ends_the_context(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_UNKNOWN:
      return true;
    default:
      return false;
  }
}

Result<Module> Module::load(const Driver& driver, const std::string& cubin, CUresult* result) {
  CUmodule module = nullptr;
  const CUresult loaded = driver.module_load_data(&module, cubin.data());
  if (result != nullptr) *result = loaded;
  TRY(checked(driver, loaded, "a cubin does not load"));
  return Module(driver, module);
}

Module::Module(Module&& other) noexcept
    : driver_(other.driver_), module_(std::exchange(other.module_, nullptr)) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(module_, other.module_);
  return *this;
}

Module::~Module() {
  if (module_ != nullptr) driver_->module_unload(module_);
}

Result<CUfunction> Module::function(const std::string& name) const {
  CUfunction function = nullptr;
  TRY(checked(*driver_, driver_->module_get_function(&function, module_, name.c_str()),
              "the cubin has no kernel " + name));
  return function;
}

Result<Event> Event::make(const Driver& driver) {
  CUevent event = nullptr;
  TRY(checked(driver, driver.event_create(&event, CU_EVENT_DEFAULT), "no event"));
  return Event(driver, event);
}

Event::Event(Event&& other) noexcept
    : driver_(other.driver_), event_(std::exchange(other.event_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(event_, other.event_);
  return *this;
}

Event::~Event() {
  if (event_ != nullptr) driver_->event_destroy(event_);
}

CUresult Event::record() { return driver_->event_record(event_, nullptr); }
CUresult Event::query() const { return driver_->event_query(event_); }

double Event::milliseconds_since(const Event& before) const {
  float milliseconds = 0;
  const CUresult result = driver_->event_elapsed_time(&milliseconds, before.event_, event_);
  return result == CUDA_SUCCESS ? static_cast<double>(milliseconds) : 0.0;
}

CUresult wait_for(const Event& event, Deadline deadline) {
  while (true) {
    const CUresult result = event.query();
    if (result != CUDA_ERROR_NOT_READY || deadline.passed()) return result;
    std::this_thread::yield();
  }
}

CUresult launch(const Driver& driver, CUfunction function, const LaunchShape& shape,
                void** parameters) {
  std::array<CUlaunchAttribute, 2> attributes{};
  attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attributes[0].value.clusterDim = {shape.cluster, 1, 1};
  // Triton's own launcher asks for the same policy.
  attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE;
  attributes[1].value.clusterSchedulingPolicyPreference = CU_CLUSTER_SCHEDULING_POLICY_SPREAD;
  CUlaunchConfig config{};
  config.gridDimX = shape.grid[0] * shape.cluster;
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.threads;
  config.blockDimY = 1;
  config.blockDimZ = 1;
  config.sharedMemBytes = shape.shared_bytes;
  config.attrs = attributes.data();
  config.numAttrs = shape.cluster > 1 ? static_cast<unsigned>(attributes.size()) : 0;
  return driver.launch_kernel(&config, function, parameters, nullptr);
}

}  // namespace tritonsmith::gym::cuda
