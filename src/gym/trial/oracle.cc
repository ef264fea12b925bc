#include "gym/trial/oracle.h"

#include <ATen/ATen.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>

namespace tritonsmith::gym::trial {
namespace {

// While this lives, factories without a dtype make doubles.
class DefaultDouble {
 public:
  DefaultDouble() : before_(c10::get_default_dtype()) {
    c10::set_default_dtype(caffe2::TypeMeta::Make<double>());
  }
  ~DefaultDouble() { c10::set_default_dtype(before_); }
  DefaultDouble(const DefaultDouble&) = delete;
  DefaultDouble& operator=(const DefaultDouble&) = delete;

 private:
  caffe2::TypeMeta before_;
};

}  // namespace

tl::expected<tensors::TensorTable, replay::Stop> widened_inputs(const Sides& sides) {
  tensors::TensorTable inputs;
  try {
    for (const at::Tensor& tensor : sides.reference.tensors())
      inputs.push_back(tensor.defined() && tensor.is_floating_point()
                           ? tensor.to(at::kDouble, false, true)
                       : tensor.defined() ? tensor.clone()
                                          : at::Tensor());
    return inputs;
  } catch (const c10::OutOfMemoryError&) {
    return tl::unexpected(
        replay::Stop{.error = {.error_class = ErrorClass::too_large_to_evaluate,
                               .message = "no memory is left for the reference in float64"}});
  }
}

OracleRun run_oracle(Sides& sides, std::optional<tensors::TensorTable> inputs) {
  OracleRun run;
  if (!sides.reference_replays()) {
    if (sides.answered) run.exact = std::move(sides.answered->exact);
    return run;
  }
  if (!inputs) return run;
  const DefaultDouble doubles;
  replay::Replay oracle(sides.config.task, sides.executor,
                        {.precision = replay::Precision::float64,
                         .deadline = sides.config.deadline,
                         .device = &sides.device});
  oracle.tensors() = *std::move(inputs);
  auto stop = oracle.run(plan::Phase::forward);
  if (!stop) {
    run.exact = std::move(oracle.tensors());
    return run;
  }
  forget_made(sides, oracle.tensors());
  // A candidate may have used up the time, or the memory.
  if (stop->error.error_class == ErrorClass::too_large_to_evaluate)
    run.reference_stop = std::move(stop);
  return run;
}

OracleRun run_oracle_now(Sides& sides) {
  const c10::InferenceMode no_gradients(true);
  if (!sides.config.with_oracle || !sides.reference_replays())
    return run_oracle(sides, std::nullopt);
  auto inputs = widened_inputs(sides);
  if (inputs) return run_oracle(sides, *std::move(inputs));
  OracleRun run;
  run.candidate_stop = std::move(inputs.error());
  return run;
}

tensors::TensorTable take_oracle_run(TrialResult& result, OracleRun run) {
  if (run.candidate_stop) result.candidate_stop = std::move(run.candidate_stop);
  if (run.reference_stop) result.reference_stop = std::move(run.reference_stop);
  return std::move(run.exact);
}

}  // namespace tritonsmith::gym::trial
