#include "gym/trial/torch_made.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <set>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::trial {
namespace {

using plan::operators::Trait;

const plan::AtenCall* forward_call(const plan::PlanStep& step) {
  const auto* call = std::get_if<plan::AtenCall>(&step.action);
  return step.phase == plan::Phase::forward ? call : nullptr;
}

bool only_arranges(const plan::Plan& task) {
  return std::ranges::all_of(task.steps, [](const plan::PlanStep& step) {
    const plan::AtenCall* call = forward_call(step);
    return call == nullptr || plan::operators::only_arranges(call->op);
  });
}

bool orders_by_values(const plan::Plan& task) {
  return std::ranges::any_of(task.steps, [](const plan::PlanStep& step) {
    const plan::AtenCall* call = forward_call(step);
    return call != nullptr && (plan::operators::is(call->op, Trait::orders) ||
                               (plan::operators::is(call->op, Trait::keeps_as_drawn) &&
                                !plan::operators::only_arranges(call->op)));
  });
}

// The tensors that forward's operators made, and in which no kernel had a part.
std::vector<at::Tensor> made_by_torch(const Sides& sides, const replay::LaunchTraces& launches) {
  const plan::Plan& candidate = sides.config.candidate;
  const auto storage_of = [&](int tensor) {
    return candidate.tensors.at(static_cast<std::size_t>(tensor)).storage;
  };
  std::set<int> by_kernels;
  std::vector<int> made;
  for (std::size_t k = 0; k < candidate.steps.size(); ++k) {
    if (const auto launch = launches.find(k); launch != launches.end())
      for (const int tensor : launch->second.stored_tensors)
        if (tensor >= 0) by_kernels.insert(storage_of(tensor));
    const plan::AtenCall* call = forward_call(candidate.steps[k]);
    if (call == nullptr || plan::operators::only_allocates(call->op)) continue;
    std::vector<int> read;
    for (const plan::Value& argument : call->args) plan::append_tensors(argument, read);
    const bool is_theirs = std::ranges::any_of(
        read, [&](int tensor) { return by_kernels.contains(storage_of(tensor)); });
    for (const int output : call->outputs) {
      if (output < 0) continue;
      if (is_theirs)
        by_kernels.insert(storage_of(output));
      else
        made.push_back(output);
    }
  }
  std::vector<at::Tensor> tensors;
  for (const int index : made)
    if (!by_kernels.contains(storage_of(index)))
      tensors.push_back(tensors::tensor_at(sides.candidate.tensors(), index));
  return tensors;
}

at::Tensor in_single(const at::Tensor& tensor) { return tensor.to(at::kFloat).reshape({-1}); }

bool is_near(const at::Tensor& one, const at::Tensor& other, double tolerance) {
  return at::allclose(one, other, tolerance, tolerance, true);
}

bool hold_the_same(const at::Tensor& made, const at::Tensor& output, double tolerance,
                   bool in_any_order) {
  if (!made.defined() || !made.is_floating_point() || made.numel() != output.numel() ||
      made.device() != output.device())
    return false;
  const at::Tensor one = in_single(made), other = in_single(output);
  if (!is_near(one.max(), other.max(), tolerance) || !is_near(one.min(), other.min(), tolerance))
    return false;
  if (is_near(one, other, tolerance)) return true;
  return in_any_order && is_near(std::get<0>(one.sort()), std::get<0>(other.sort()), tolerance);
}

}  // namespace

bool torch_made_outputs(const Sides& sides, const replay::LaunchTraces& launches) {
  if (!sides.reference_replays() || only_arranges(sides.config.task)) return false;
  const bool in_any_order = !orders_by_values(sides.config.task);
  const double tolerance = tolerance_of(sides).value;
  const std::vector<at::Tensor> made = made_by_torch(sides, launches);
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  bool any = false;
  for (const int index : outputs) {
    const at::Tensor& output = tensors::tensor_at(sides.reference.tensors(), index);
    if (!output.is_floating_point() || output.numel() < 2) continue;
    any = true;
    if (std::ranges::none_of(made, [&](const at::Tensor& each) {
          return hold_the_same(each, output, tolerance, in_any_order);
        }))
      return false;
  }
  return any;
}

}  // namespace tritonsmith::gym::trial
