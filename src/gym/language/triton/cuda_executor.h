// CudaExecutor: runs a plan's Triton launches on the GPU, from the cubins of the compile workers.
// Only an observed launch reports which buffers it wrote: it compares their fingerprints before and
// after.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gym/cuda/device_kernels.h"
#include "gym/language/kernel_executor.h"

namespace tritonsmith::gym::language::triton {

// The parameters of a Triton kernel in the layout of its cubin. The launch's arguments come first,
// in the kernel's types. Two scratch pointers follow, which Triton 3.6 adds. One points to global
// memory for objects that kernels make on the device (tensor descriptors). The other belongs to a
// profiler and is null.
class KernelParameters {
 public:
  // Fails if an argument does not fit its type, such as "i32".
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

class CudaExecutor final : public GpuExecutor {
 public:
  explicit CudaExecutor(const cuda::Driver& driver) : driver_(driver) {}

  // Each kernel is loaded at its first launch, and equal cubins are loaded once.
  void use(const std::vector<KernelBinary>& kernels) override;
  void observe_with(cuda::DeviceKernels* eyes, std::chrono::nanoseconds patience = {}) override {
    eyes_ = eyes;
    patience_ = patience;
  }

  LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                       std::span<const KernelArgument> arguments, Deadline deadline) override;

 private:
  tl::expected<CUfunction, LaunchOutcome> function_of(std::size_t index);
  // Fails if the compiled kernel takes more parameters than its plan says, because the driver would
  // read past the given ones.
  Status check_parameters(CUfunction function, std::size_t given) const;
  CUresult start(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                 CUfunction function, KernelParameters& parameters);
  LaunchOutcome observe(std::span<const KernelArgument> arguments,
                        const std::function<CUresult()>& run);
  // Returns at least so many bytes. A job's launches share them, as they run one by one.
  Result<CUdeviceptr> scratch(std::size_t bytes);
  void free_scratch();

  const cuda::Driver& driver_;
  cuda::DeviceKernels* eyes_ = nullptr;
  std::chrono::nanoseconds patience_{};
  const std::vector<KernelBinary>* kernels_ = nullptr;
  std::vector<CUfunction> functions_;
  std::map<std::string_view, cuda::Module> modules_;  // by cubin
  CUdeviceptr scratch_ = 0;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace tritonsmith::gym::language::triton
