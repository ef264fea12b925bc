// Equipment: the device and the executor with which one referee runs trials. On a GPU it also has
// the oracle kernels and the lease. The referee's one thread uses it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lease.h"
#include "gym/cuda/fused_oracles.h"
#include "gym/cuda/nvml.h"
#include "gym/device/cuda_device.h"
#include "gym/language/kernel_executor.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::referee {

// The kinds of inputs, and the counts of calls, that a task's reference can take. Others make a device
// assertion fail, which ends the GPU's context (task_domain.h).
struct TaskDomain {
  bool may_assert = false;
  // By perturbation, and by whether draws stay within bounds: false if the reference refused such
  // inputs in some trial.
  std::map<std::pair<trial::Perturbation, bool>, bool> takes;
  std::map<std::int64_t, bool> takes_after_calls;  // by the number of calls that its counters hold
};

struct Equipment {
  // Runs trials on the CPU.
  explicit Equipment(std::unique_ptr<language::KernelExecutor> kernel_executor);
  Equipment(std::unique_ptr<device::CudaDevice> cuda_device, std::optional<Lease> gpu_lease);

  std::unique_ptr<device::CudaDevice> gpu;  // null on the CPU
  std::unique_ptr<language::KernelExecutor> executor;
  language::GpuExecutor* cuda = nullptr;      // the same executor, on a GPU
  std::unique_ptr<cuda::FusedOracles> fused;  // on a GPU
  std::unique_ptr<Equipment> evaluator;       // on a GPU: runs small trials on the CPU as well
  device::Device& device;
  std::optional<Lease> lease;
  std::optional<cuda::ClockMeter> clocks;  // on a GPU whose driver tells them
  // Milliseconds of the reference in earlier jobs on this GPU, by task.
  std::map<std::string, std::vector<double>> reference_ms;
  std::map<std::string, TaskDomain> domains;  // by task
};

// Makes an executor for the CPU that shares the memory of a plan with LibTorch.
std::unique_ptr<language::KernelExecutor> make_evaluator();

}  // namespace tritonsmith::gym::referee
