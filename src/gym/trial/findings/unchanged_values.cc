#include "gym/trial/findings/unchanged_values.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "gym/language/registry/languages.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

bool may_change(std::string_view op) {
  return !plan::operators::only_arranges(op) && !plan::operators::only_allocates(op) &&
         !plan::operators::is(op, plan::operators::Trait::dropout);
}

bool hold_the_same(const at::Tensor& one, const at::Tensor& other) {
  return one.numel() > 0 && one.numel() == other.numel() &&
         one.scalar_type() == other.scalar_type() && one.device() == other.device() &&
         one.storage().data() != other.storage().data() &&
         at::equal(one.reshape({-1}), other.reshape({-1}));
}

}  // namespace

std::vector<at::Tensor> unchanged_values(const plan::Plan& task,
                                         const tensors::TensorTable& tensors) {
  std::vector<at::Tensor> found;
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward || !may_change(call->op)) continue;
    const std::vector<int> read = plan::tensors_given_to(*call);
    for (const int output : call->outputs) {
      if (output < 0) continue;
      const at::Tensor& made = tensors.at(static_cast<std::size_t>(output));
      const bool is_unchanged = made.defined() && std::ranges::any_of(read, [&](int index) {
                                  const at::Tensor& given =
                                      tensors.at(static_cast<std::size_t>(index));
                                  return given.defined() && hold_the_same(made, given);
                                });
      if (is_unchanged) found.push_back(made);
    }
  }
  return found;
}

bool lack_spread(const std::vector<int>& inputs, const tensors::TensorTable& tensors) {
  bool any = false;
  for (const int index : inputs) {
    const at::Tensor& input = tensors.at(static_cast<std::size_t>(index));
    if (!input.defined() || !input.is_floating_point() || input.numel() < 2) continue;
    // fp8 values are compared as float32
    const at::Tensor values = input.element_size() == 1 ? input.to(at::kFloat) : input;
    if (values.min().item<double>() != values.max().item<double>()) return false;
    any = true;
  }
  return any;
}

bool are_among(const std::vector<at::Tensor>& unchanged, const at::Tensor& values,
               double tolerance) {
  return values.defined() && std::ranges::any_of(unchanged, [&](const at::Tensor& each) {
           return each.numel() == values.numel() && each.scalar_type() == values.scalar_type() &&
                  each.device() == values.device() &&
                  at::allclose(values.reshape({-1}), each.reshape({-1}), tolerance, tolerance,
                               true);
         });
}

void add_unseen_stores(const plan::Plan& candidate, const replay::Choices& choices,
                       const tensors::TensorTable& tensors,
                       const std::vector<at::Tensor>& unchanged, double tolerance,
                       replay::LaunchTraces& launches) {
  for (auto& [step, trace] : launches) {
    const plan::LaunchChoice& launch = replay::chosen_of(
        std::get<plan::LaunchStep>(candidate.steps.at(step).action), step, choices);
    const plan::PlanKernel& kernel = candidate.kernels.at(static_cast<std::size_t>(launch.kernel));
    for (const int index : language::language_of(kernel).stored_arguments(kernel.code)) {
      if (index >= std::ssize(launch.arguments)) break;
      const plan::Value& argument = launch.arguments[static_cast<std::size_t>(index)];
      const auto* tensor = std::get_if<plan::TensorRef>(&argument.data);
      if (tensor != nullptr &&
          std::ranges::find(trace.stored_tensors, tensor->index) == trace.stored_tensors.end() &&
          are_among(unchanged, tensors.at(static_cast<std::size_t>(tensor->index)), tolerance))
        trace.stored_tensors.push_back(tensor->index);
    }
  }
}

}  // namespace tritonsmith::gym::trial
