#include "gym/trial/check.h"

#include <c10/core/InferenceMode.h>

#include "gym/trial/aliases.h"
#include "gym/trial/check_state.h"
#include "gym/trial/check_values.h"
#include "gym/trial/kernel_evidence.h"
#include "gym/trial/oracle.h"
#include "gym/trial/repeat_call.h"
#include "gym/trial/torch_made.h"

namespace tritonsmith::gym::trial {
namespace {

// Compares both sides' results. Returns whether all that they share is as it was before forward.
bool compare_sides(Sides& sides, const PreparedSides& prepared,
                   std::optional<tensors::TensorTable> oracle_inputs, CheckedTrial& checked) {
  const c10::InferenceMode no_gradients(true);
  const Stopwatch watch;
  TrialResult& result = checked.result;
  sides.device.foresee(shared_now(sides, prepared.shared));
  const ComparedValues values = compare_values(sides, std::move(oracle_inputs), result);
  if (result.is_stopped()) return false;
  checked.tolerance_extension = values.tolerance_extension;
  bool is_intact = false;
  if (!result.difference) result.difference = compare_devices(sides);
  if (!result.difference) {
    StateCheck state = check_state(sides, prepared, values.exact, values.how);
    result.difference = std::move(state.difference);
    result.reference_keeps_state = state.reference_keeps_state;
    result.numerics.tolerance_extension =
        std::max(result.numerics.tolerance_extension, state.tolerance_extension);
    is_intact = state.is_intact;
    checked.changed_state = !is_intact;
  }
  if (!result.difference) result.difference = find_scratch_use(sides, prepared, result.launches);
  if (!result.difference) result.difference = compare_aliases(sides, prepared.shared);
  if (!result.difference && keeps_output(sides))
    result.findings.push_back(
        {.rule = "output_kept",
         .severity = Severity::warn,
         .message = "an output lies in memory that the module keeps: the next call overwrites it"});
  if (!result.difference && is_changed(prepared.watched, sides.device))
    checked.changed_state = true;
  forget_made(sides, values.exact);
  result.compare_ms = watch.milliseconds();
  return is_intact;
}

}  // namespace

CheckedTrial check(Sides& sides, PreparedSides& prepared, SideResults results) {
  CheckedTrial checked;
  TrialResult& result = checked.result;
  result.draw_ms = prepared.draw_ms;
  take_candidate_run(result, std::move(results.candidate));
  take_reference_run(result, std::move(results.reference));
  if (sides.config.asked != nullptr) {
    const c10::InferenceMode no_gradients(true);
    if (!result.is_stopped()) answer_question(sides, result);
    return checked;
  }
  if (!result.is_stopped()) {
    const bool is_intact =
        compare_sides(sides, prepared, std::move(results.oracle_inputs), checked);
    if (!result.is_stopped() && !result.difference) {
      if (sides.config.kernels.factors) result.factors = sample_factors(sides);
      if (sides.config.kernels.copies && !result.kernels_only_copied)
        result.kernels_only_copied = torch_made_outputs(sides, result.launches);
      call_again({sides, prepared, checked.tolerance_extension, is_intact}, result);
      weigh_unchanged_values(sides, result);
    }
  }
  if (sides.answered) result.no_oracle = sides.answered->no_oracle;
  return checked;
}

}  // namespace tritonsmith::gym::trial
