// KernelExecutor: the interface that runs a plan's launches. Each kernel language implements it for
// the CPU and for the GPU (language.h). The replay calls it from its one thread, with real buffers.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "data/verdict.h"
#include "gym/language/kernel_binary.h"
#include "gym/language/program_order.h"
#include "gym/language/result_rounding.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::cuda {
class DeviceKernels;
}

namespace tritonsmith::gym::language {

// The whole storage of a tensor. A kernel may touch all of it and nothing else.
struct KernelBuffer {
  std::byte* storage = nullptr;
  std::size_t storage_bytes = 0;
  // The tensor's first element, where the kernel's pointer points.
  std::size_t offset_bytes = 0;
  std::size_t element_bytes = 1;
  int tensor = 0;              // index in the plan
  std::string_view name = {};  // what messages call it; it outlives the launch
};
using KernelArgument = std::variant<KernelBuffer, std::int64_t, double, bool>;

// The end of a launch. `fault` is `candidate` if the kernel misbehaved. It is `none` if the launch
// is too large or cannot be evaluated.
struct LaunchOutcome {
  std::optional<VerdictError> error;
  Fault fault = Fault::none;
  std::vector<Finding> findings;  // observations that did not end the launch, such as a race
  std::vector<int> loaded;        // indices of the arguments whose buffers the kernel read
  std::vector<int> stored;        // indices of the arguments whose buffers the kernel wrote
};

class KernelExecutor {
 public:
  virtual ~KernelExecutor() = default;
  virtual LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                               std::span<const KernelArgument> arguments, Deadline deadline) = 0;

  // Sets the program order of the following launches. Returns false if the device alone decides the
  // order, as a GPU does.
  virtual bool set_order(const ProgramOrder&) { return false; }
  // Sets how the following launches round results of 32 and 64 bits. Returns false if the device alone
  // decides it, as a GPU does.
  virtual bool set_rounding(const ResultRounding&) { return false; }
};

// An executor on the GPU. launch() returns before the kernel has run. The caller waits for the
// device, which tells how the kernel ended.
class GpuExecutor : public KernelExecutor {
 public:
  // Sets the machine code of the candidate's kernels for the following launches, by the kernel's
  // index in the plan.
  virtual void use(const std::vector<KernelBinary>& kernels) = 0;
  // From now on the executor waits for each launch, at most for `patience`, and compares the
  // fingerprints of its buffers. A fault then belongs to that launch. A null pointer ends this.
  virtual void observe_with(cuda::DeviceKernels* eyes, std::chrono::nanoseconds patience = {}) = 0;
};

}  // namespace tritonsmith::gym::language
