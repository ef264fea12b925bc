#include "gym/trial/later_call.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "gym/trial/run_sides.h"

namespace tritonsmith::gym::trial {

tl::expected<PreparedSides, TrialResult> prepare_later_call(Sides& sides, PreparedSides prepared) {
  TrialResult ended;
  ended.draw_ms = prepared.draw_ms;
  take_candidate_run(ended, run_candidate(sides, prepared.shared));
  if (ended.candidate_stop || sides.device.spent()) return tl::unexpected(std::move(ended));
  take_reference_run(ended, run_reference(sides));
  ended.reference_stop = await_reference(sides, std::move(ended.reference_stop));
  if (ended.reference_stop) return tl::unexpected(std::move(ended));
  forget_expected(sides);
  const c10::InferenceMode no_gradients(true);
  std::erase_if(prepared.shared, [](const SharedTensor& each) { return each.is_input; });
  for (const SharedTensor& each : prepared.shared)
    tensors::tensor_at(sides.candidate.tensors(), each.candidate)
        .copy_(tensors::tensor_at(sides.reference.tensors(), each.reference));
  prepared.unmatched.clear();  // the first call has shown whether the reference changes them
  prepared.own_state.clear();
  sides.seed("other inputs");
  ended.reference_stop = sides.reference.run(plan::Phase::inputs);
  if (!ended.reference_stop) ended.candidate_stop = share_inputs(sides, prepared.shared);
  if (ended.is_stopped()) return tl::unexpected(std::move(ended));
  remember_shared(sides, prepared.shared);
  prepared.own_state = remember_own_state(sides, prepared.shared);
  return prepared;
}

}  // namespace tritonsmith::gym::trial
