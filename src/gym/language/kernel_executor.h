// KernelExecutor: the seam at which a plan's Triton launches are run. On the CPU the evaluator of
// Triton IR stands behind it, on a GPU the driver. The replay calls it from its one thread, with
// real buffers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "data/verdict.h"
#include "gym/language/program_order.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::language {

// The whole storage a tensor lies in: a kernel may touch all of it and nothing else.
struct KernelBuffer {
  std::byte* storage = nullptr;
  std::size_t storage_bytes = 0;
  std::size_t offset_bytes =
      0;  // where the tensor's first element is; the pointer the kernel receives
  std::size_t element_bytes = 1;
  int tensor = 0;  // in the plan
};
using KernelArgument = std::variant<KernelBuffer, std::int64_t, double, bool>;

// How a launch ended. Not evaluable and too large are nobody's fault; a kernel that misbehaves is
// its candidate's.
struct LaunchOutcome {
  std::optional<VerdictError> error;
  Fault fault = Fault::none;
  std::vector<Finding> findings;  // what it showed without ending: a race
  std::vector<int> loaded;        // indices of arguments whose buffer it read
  std::vector<int> stored;        // ... and wrote
};

class KernelExecutor {
 public:
  virtual ~KernelExecutor() = default;
  virtual LaunchOutcome launch(const plan::PlanKernel& kernel, const plan::LaunchChoice& choice,
                               std::span<const KernelArgument> arguments, Deadline deadline) = 0;

  // Of the launches that follow; false where the device alone decides.
  virtual bool set_order(const ProgramOrder&) { return false; }
};

}  // namespace tritonsmith::gym::language
