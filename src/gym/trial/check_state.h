// Compares the inputs, weights and buffers that both sides hold after forward. The candidate must
// change what the reference changes, to the same values, and nothing else.
#pragma once

#include <optional>
#include <vector>

#include "gym/trial/prepare.h"

namespace tritonsmith::gym::trial {

struct StateCheck {
  std::optional<VerdictError> difference;
  bool is_intact = false;              // neither side changed an input or a weight that both hold
  bool reference_keeps_state = false;  // the reference changed a weight or a buffer
  double tolerance_extension = 0;      // the extension that the changed values needed
};

StateCheck check_state(const Sides& sides, const PreparedSides& prepared,
                       const tensors::TensorTable& exact, const compare::CompareOptions& how);

// Returns the shared tensors as they are now: the reference's and the candidate's alternate.
std::vector<at::Tensor> shared_now(const Sides& sides, const std::vector<SharedTensor>& shared);

// The candidate may return an output on the CPU only if the reference does. Returns the first
// violation, if any.
std::optional<VerdictError> compare_devices(const Sides& sides);

// Finds an input or a weight to which a kernel wrote although it holds what it held before, and the
// reference leaves it alone. It assumes that check_state() found no difference. On a GPU a store that
// restores the value is not seen.
std::optional<VerdictError> find_scratch_use(const Sides& sides, const PreparedSides& prepared,
                                             const replay::LaunchTraces& launches);

}  // namespace tritonsmith::gym::trial
