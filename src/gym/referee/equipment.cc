#include "gym/referee/equipment.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include "gym/language/registry/languages.h"
#include "gym/tensors/replay_memory.h"

namespace tritonsmith::gym::referee {

namespace {

// A machine without the management library judges all the same.
std::optional<cuda::ClockMeter> clocks_of(const std::string& bus_id) {
  const auto nvml = cuda::load_nvml();
  if (!nvml) return std::nullopt;
  auto meter = cuda::ClockMeter::open(*nvml, bus_id);
  if (!meter) return std::nullopt;
  return *std::move(meter);
}

}  // namespace

// LibTorch uses one thread, because many referees run side by side.
Equipment::Equipment(std::unique_ptr<language::KernelExecutor> kernel_executor)
    : executor(std::move(kernel_executor)), device(device::cpu_device()) {
  at::set_num_threads(1);
}

Equipment::Equipment(std::unique_ptr<device::CudaDevice> cuda_device,
                     std::optional<Lease> gpu_lease)
    : gpu(std::move(cuda_device)), device(*gpu), lease(std::move(gpu_lease)) {
  at::set_num_threads(1);
  at::globalContext().setAllowTF32CuDNN(false);
  auto cuda_executor = language::make_gpu_executor(gpu->driver());
  cuda = cuda_executor.get();
  executor = std::move(cuda_executor);
  evaluator = std::make_unique<Equipment>(make_evaluator());
  fused = std::make_unique<cuda::FusedOracles>(gpu->driver(), gpu->nvrtc(), gpu->facts().target);
  clocks = clocks_of(gpu->facts().bus_id);
}

std::unique_ptr<language::KernelExecutor> make_evaluator() {
  return language::make_cpu_executor(
      [] { return static_cast<std::size_t>(tensors::ReplayMemory::instance().room_bytes()); });
}

}  // namespace tritonsmith::gym::referee
