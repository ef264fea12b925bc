// CudaExecutor: runs a plan's Triton launches on the GPU, from the cubins that the compiler workers
// made of it. A launch returns before the kernel has run; who needs to know how it ended waits.
// What a kernel wrote is seen only while it is observed: by fingerprints of its buffers before and
// after.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gym/cuda/device_kernels.h"
#include "gym/language/kernel_binary.h"
#include "gym/language/kernel_executor.h"

namespace tritonsmith::gym::language::triton {

// The parameters of a Triton kernel, laid out as its cubin takes them: the launch's arguments in
// the kernel's types, then the two scratch pointers that Triton 3.6 adds: global memory for what
// kernels make on the device (tensor descriptors), and a profiler's, which is null.
class KernelParameters {
 public:
  // Fails where an argument does not fit the type, "i32" and the like.
  static Result<KernelParameters> pack(const std::vector<std::string>& types,
                                       std::span<const KernelArgument> arguments,
                                       CUdeviceptr scratch = 0);
  void** data() { return pointers_.data(); }
  std::span<const std::uint64_t> values() const { return values_; }

 private:
  explicit KernelParameters(std::vector<std::uint64_t> values);
  std::vector<std::uint64_t> values_;  // each in its low bytes
  std::vector<void*> pointers_;
};

class CudaExecutor final : public KernelExecutor {
 public:
  explicit CudaExecutor(const cuda::Driver& driver) : driver_(driver) {}

  // The kernels of the candidate whose launches come next, by the plan's index. Loaded when first
  // launched; equal cubins once.
  void use(const std::vector<KernelBinary>& kernels);
  // From now on each launch is waited for, as long as `patience`, and its buffers are looked at;
  // null: no more. A fault is then known to be that launch's.
  void observe_with(cuda::DeviceKernels* eyes, std::chrono::nanoseconds patience = {}) {
    eyes_ = eyes;
    patience_ = patience;
  }

  LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                       std::span<const KernelArgument> arguments, Deadline deadline) override;

 private:
  Result<CUfunction> function_of(std::size_t index);
  // What was compiled may take more than its plan says: the driver would read on.
  Status check_parameters(CUfunction function, std::size_t given) const;
  CUresult start(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                 CUfunction function, KernelParameters& parameters);
  LaunchOutcome observe(std::span<const KernelArgument> arguments,
                        const std::function<CUresult()>& run);
  // At least so many bytes, the same memory for every launch of a job: they run one after another.
  Result<CUdeviceptr> scratch(std::size_t bytes);
  void free_scratch();

  const cuda::Driver& driver_;
  cuda::DeviceKernels* eyes_ = nullptr;
  std::chrono::nanoseconds patience_{};
  const std::vector<KernelBinary>* kernels_ = nullptr;
  std::vector<CUfunction> functions_;
  std::map<std::string_view, cuda::Module> modules_;  // by the cubin
  CUdeviceptr scratch_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace tritonsmith::gym::language::triton
