// Computes the reference in float64, which is the oracle. It shows how large PyTorch's own rounding
// errors are. If an operator has no float64 form, there is no oracle, and the plain tolerance alone
// decides.
#pragma once

#include <optional>

#include "gym/trial/sides.h"
#include "gym/trial/trial_result.h"

namespace tritonsmith::gym::trial {

struct OracleRun {
  tensors::TensorTable exact;  // by index of the task's plan; empty if there is no oracle
  // Set if memory or time ran out. The task has an oracle in principle, so the plain tolerance must
  // not decide alone.
  std::optional<replay::Stop> candidate_stop, reference_stop;
};

// Returns copies of the reference's tensors with floating values in float64. The error says that no
// memory is left for them.
tl::expected<tensors::TensorTable, replay::Stop> widened_inputs(const Sides& sides);

// Runs the reference in float64 on these inputs. If the Python reference runs forward, its last
// answer has the exact values.
OracleRun run_oracle(Sides& sides, std::optional<tensors::TensorTable> inputs);

// Widens the reference's present tensors to float64 and runs the reference on them.
OracleRun run_oracle_now(Sides& sides);

// Adds the stops of the run to the result and returns the exact values.
tensors::TensorTable take_oracle_run(TrialResult& result, OracleRun run);

}  // namespace tritonsmith::gym::trial
