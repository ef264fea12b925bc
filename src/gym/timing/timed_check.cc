#include "gym/timing/timed_check.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gym/compare/compare.h"
#include "gym/plan/analysis/final_scale.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/check_values.h"
#include "gym/trial/other_rounding.h"
#include "gym/trial/python_reference_answer.h"
#include "gym/trial/wrong_elements.h"

namespace tritonsmith::gym::timing {
namespace {

tensors::TensorTable archived(const TimedSides& sides, const OutputArchive& archive,
                              std::size_t nth) {
  std::vector<int> indices;
  plan::append_tensors(sides.candidate.plan().outputs, indices);
  const std::vector<at::Tensor> outputs = archive.read(nth);
  tensors::TensorTable tensors = sides.candidate.replay().tensors();
  for (std::size_t k = 0; k < indices.size(); ++k)
    tensors.at(static_cast<std::size_t>(indices[k])) = outputs[k];
  return tensors;
}

std::vector<at::Tensor> reference_outputs(const TimedSides& sides) {
  std::vector<int> indices;
  plan::append_tensors(sides.trial.task().outputs, indices);
  std::vector<at::Tensor> outputs;
  for (const int index : indices)
    outputs.push_back(tensors::tensor_at(sides.reference.replay().tensors(), index));
  return outputs;
}

std::vector<at::Tensor> copies_of_outputs(const TimedSides& sides) {
  std::vector<at::Tensor> copies = reference_outputs(sides);
  for (at::Tensor& output : copies) output = output.clone();
  return copies;
}

// Returns the coarseness of the worst output, or 0 where it is unknown because a value is finite on
// one side only.
double coarseness(const std::vector<at::Tensor>& coarse, const std::vector<at::Tensor>& fine) {
  double worst = 0;
  for (std::size_t k = 0; k < fine.size(); ++k)
    worst = std::max(worst, compare::own_error_by_element(coarse[k], fine[k]));
  return std::isfinite(worst) ? worst : 0;
}

}  // namespace

Setting timed_setting(const plan::Plan& task) {
  const bool uses_it = std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    return call != nullptr && step.phase == plan::Phase::forward &&
           plan::operators::runs_in_cudnn(call->op);
  });
  return uses_it ? Setting::eager : Setting::full_float32;
}

replay::Stop as_task_failure(replay::Stop stop) {
  if (stop.fault == Fault::infrastructure) return stop;
  stop.fault = Fault::none;
  stop.error.line = 0;
  if (stop.error.error_class != ErrorClass::too_large_to_evaluate)
    stop.error.error_class = ErrorClass::task_failed;
  return stop;
}

std::optional<VerdictError> compare_sides(const TimedSides& sides,
                                          const tensors::TensorTable& tensors,
                                          const tensors::TensorTable& oracle,
                                          const Nearness& nearness) {
  Numerics ignored;
  static_cast<void>(trial::take_order_of_ties(sides.trial, tensors, oracle));
  const bool is_coarse = nearness.coarseness > 0;
  compare::Tolerance tolerance = trial::tolerance_of(sides.trial);
  tolerance.value += 2 * nearness.coarseness;
  return compare::compare_outputs(
      {sides.candidate.plan().outputs, tensors},
      {sides.trial.task().outputs, sides.reference.replay().tensors()}, oracle,
      {.rule = sides.trial.config.comparison,
       .strides = sides.trial.config.strides,
       .tolerance = tolerance,
       .unit = is_coarse ? compare::AbsoluteUnit::output_size : compare::AbsoluteUnit::one,
       .final_scale = plan::analysis::final_scale(sides.trial.config.task),
       .tolerance_extension = nearness.tolerance_extension,
       .device = sides.device.comparison()},
      ignored);
}

std::optional<replay::Stop> run_reference_in(const TimedSides& sides, Setting setting,
                                             const trial::Nudge& nudge) {
  const EagerSettings as_asked(setting);
  const trial::OtherRounding rounding(sides.reference.plan(), nudge);
  std::function<void(std::size_t)> after;
  if (nudge.units != 0)
    after = [&](std::size_t k) {
      const c10::InferenceMode no_gradients(true);
      rounding.after_step(sides.reference.steps().at(k), sides.reference.replay().tensors());
    };
  auto stop = sides.reference.prepare(tensors::Filler::zero);
  if (!stop)
    stop = sides.trial.reference_replays() ? sides.reference.run(after)
                                           : trial::ask_python_reference(sides.trial);
  return stop ? std::optional(as_task_failure(std::move(*stop))) : std::nullopt;
}

std::optional<replay::Stop> ask_until_right(
    const TimedSides& sides, const std::function<std::optional<replay::Stop>()>& bring_inputs,
    const std::function<bool(double coarseness)>& is_right) {
  if (auto failed = run_reference_in(sides, Setting::full_float32)) return failed;
  if (is_right(0) || sides.setting == Setting::full_float32) return std::nullopt;
  const auto ask_again = [&](Setting setting) {
    auto failed = bring_inputs();
    return failed ? failed : run_reference_in(sides, setting);
  };
  if (auto failed = ask_again(sides.setting)) return failed;
  std::vector<at::Tensor> coarse = copies_of_outputs(sides);  // before is_right() adopts values
  std::optional<replay::Stop> failed;
  if (!is_right(0)) {
    failed = ask_again(Setting::full_float32);
    if (!failed) is_right(coarseness(coarse, reference_outputs(sides)));
  }
  // the candidate may run again and must not find these values
  for (at::Tensor& copy : coarse) copy.zero_();
  return failed;
}

std::optional<replay::Stop> check_archive(const TimedSides& sides, const OutputArchive& archive) {
  std::set<std::size_t> left;
  for (std::size_t nth = 0; nth < archive.size(); ++nth) left.insert(nth);
  std::optional<VerdictError> wrong;
  auto failed = ask_until_right(
      sides, [] { return std::nullopt; },
      [&](double coarseness) {
        wrong.reset();
        if (sides.trial.config.adopted != nullptr)
          trial::write_values(*sides.trial.config.adopted, sides.trial, {});
        std::erase_if(left, [&](std::size_t nth) {
          auto difference = compare_sides(
              sides, archived(sides, archive, nth), {},
              {.tolerance_extension = sides.tolerance_extension, .coarseness = coarseness});
          if (difference && !wrong) wrong = difference;
          return !difference;
        });
        return left.empty();
      });
  if (failed) return failed;
  if (!wrong) return std::nullopt;
  wrong->message = "in a timed round: " + wrong->message;
  return replay::Stop{.error = *std::move(wrong), .fault = Fault::candidate};
}

}  // namespace tritonsmith::gym::timing
