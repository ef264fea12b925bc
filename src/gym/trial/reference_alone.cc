#include "gym/trial/reference_alone.h"

#include <c10/core/InferenceMode.h>

#include "gym/trial/perturb/input_changes.h"
#include "gym/trial/prepare.h"
#include "gym/trial/trial.h"
#include "gym/trial/weights/call_counts.h"

namespace tritonsmith::gym::trial {
namespace {

void change_inputs(Sides& sides) {
  const c10::InferenceMode no_gradients(true);
  const TrialConfig& config = sides.config;
  Rng rng(sides.seed_of("perturb"), "perturb", 0);
  sides.seed("perturb");
  tensors::TensorTable& tensors = sides.reference.tensors();
  const std::vector<device::InputChange> changes =
      InputChanges(config.task, config.numbers, config.within_bounds)
          .input_changes(config.kind, rng, tensors);
  const std::vector<int> inputs = input_tensors(config.task);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    change_input(changes[k], tensors::tensor_at(tensors, inputs[k]));
}

}  // namespace

Answer ask_reference(const TrialConfig& config, language::KernelExecutor& executor,
                     device::Device& device) {
  Sides sides(config, executor, device);
  const std::unique_ptr<device::Device, EndsTrial> ends_with_this(&device);
  device.begin(tensors::Filler::zero, config.memory_bytes);
  auto stop = draw_task(sides);
  if (!stop) {
    change_inputs(sides);
    tensors::TensorTable& tensors = sides.reference.tensors();
    set_counts(counts_after_calls(config.counters, config.calls_before, tensors), tensors);
    stop = sides.reference.run(plan::Phase::forward);
  }
  if (!stop) return Answer::takes;
  return does_not_replay(*stop) ? Answer::refuses : Answer::unknown;
}

}  // namespace tritonsmith::gym::trial
