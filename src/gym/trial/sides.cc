#include "gym/trial/sides.h"

#include <algorithm>
#include <array>

#include "gym/compare/compare.h"
#include "gym/plan/analysis/final_scale.h"
#include "gym/plan/analysis/forward_facts.h"

namespace tritonsmith::gym::trial {

namespace {

// Where the task itself scales, a kernel that only scales may be all that is left to do.
replay::Launches launches_of(const TrialConfig& config) {
  if (!config.kernels.copies) return replay::Launches::run;
  const bool is_scaling_work =
      !config.task.unplanned.empty() || plan::analysis::forward_facts(config.task).scales;
  return is_scaling_work ? replay::Launches::watched : replay::Launches::watched_for_scaling;
}

// NaN and huge values leave a maximum or a minimum as it is, and a kernel may look for them. Values
// like any other do neither.
tensors::Filler filler_of(const TrialConfig& config) {
  constexpr auto kFillers = std::to_array<tensors::Filler>(
      {tensors::Filler::nan, tensors::Filler::huge, tensors::Filler::plausible});
  if (config.kind == Perturbation::uneven) return tensors::Filler::plausible;
  // Fresh memory of a process is often zero, and a kernel may look for that, too.
  if (config.kind == Perturbation::small) return tensors::Filler::zero;
  return kFillers.at(static_cast<std::size_t>(config.trial % 3));
}

}  // namespace

Sides::Sides(const TrialConfig& trial_config, language::KernelExecutor& kernel_executor,
             device::Device& trial_device)
    : config(trial_config),
      executor(kernel_executor),
      device(trial_device),
      filler(filler_of(config)),
      reference(config.task, executor,
                {.deadline = config.deadline, .device = &device, .draws_seed = seed_of("draws")}),
      candidate(config.candidate, executor,
                {.choices = config.choices,
                 .deadline = config.deadline,
                 .launches = launches_of(config),
                 .device = &device,
                 .draws_seed = seed_of("draws")}),
      fills(plan::analysis::large_numbers(config.task)) {}

compare::Tolerance tolerance_of(const Sides& sides) {
  std::vector<int> indices = input_tensors(sides.config.task);
  plan::append_tensors(sides.task().outputs, indices);
  for (const plan::PlanParameter& parameter : sides.config.task.parameters)
    indices.push_back(parameter.tensor);
  compare::Tolerance widest;
  for (const int index : indices)
    widest = compare::wider_of(
        widest,
        compare::tolerance_of(tensors::tensor_at(sides.reference.tensors(), index).scalar_type()));
  return compare::tightened(widest, sides.config.tolerance);
}

compare::CompareOptions comparison_of(const Sides& sides) {
  return {.rule = sides.config.comparison,
          .strides = sides.config.strides,
          .tolerance = tolerance_of(sides),
          .unit = is_changed(sides.config) ? compare::AbsoluteUnit::output_size
                                           : compare::AbsoluteUnit::one,
          .final_scale = plan::analysis::final_scale(sides.config.task),
          .fills = sides.fills,
          // A zero is as likely a result.
          .filler = sides.filler == tensors::Filler::zero ? tensors::Filler::nan : sides.filler,
          .measures_right_elements = sides.config.purpose == TrialPurpose::measure_shares,
          .device = sides.device.comparison()};
}

bool is_changed(const TrialConfig& config) {
  return config.kind != Perturbation::plain || config.weights == WeightChange::strong;
}

bool may_widen(const Sides& sides) {
  return is_changed(sides.config) && compare::is_coarse(tolerance_of(sides).widest);
}

std::optional<replay::Stop> await_candidate(const Sides& sides, std::optional<replay::Stop> stop) {
  if (auto error = sides.device.wait(sides.config.deadline))
    if (!stop || stop->error.error_class == ErrorClass::exception)
      return replay::Stop{.error = std::move(*error), .fault = Fault::candidate};
  return stop;
}

std::optional<replay::Stop> await_reference(const Sides& sides, std::optional<replay::Stop> stop) {
  if (auto error = sides.device.wait(sides.config.deadline))
    if (!stop) return replay::Stop{.error = std::move(*error), .fault = Fault::none};
  return stop;
}

void forget_expected(const Sides& sides) { forget_made(sides, sides.reference.tensors()); }

void forget_made(const Sides& sides, const tensors::TensorTable& tensors) {
  tensors::TensorTable made;
  for (const int index : replay::made_by_forward(sides.config.task, tensors))
    made.push_back(tensors::tensor_at(tensors, index));
  sides.device.forget(made);
}

}  // namespace tritonsmith::gym::trial
