#include "gym/plan/analysis/returned_changes.h"

#include <algorithm>
#include <set>
#include <vector>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

bool returns_a_tensor(const Plan& plan) {
  std::vector<int> tensors;
  append_tensors(plan.outputs, tensors);
  return !tensors.empty();
}

std::set<int> storages_written_in_forward(const Plan& plan) {
  std::set<int> written;
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward || call->args.empty() ||
        !operators::writes_in_place(call->op))
      continue;
    std::vector<int> first;
    append_tensors(call->args[0], first);
    for (const int tensor : first)
      written.insert(plan.tensors.at(static_cast<std::size_t>(tensor)).storage);
  }
  return written;
}

}  // namespace

std::optional<std::pair<Plan, Plan>> with_changes_returned(const Plan& task,
                                                           const Plan& candidate) {
  if (!task.unplanned.empty() || returns_a_tensor(task) || returns_a_tensor(candidate))
    return std::nullopt;
  const std::set<int> written = storages_written_in_forward(task);
  const auto is_written = [&](int tensor) {
    return written.contains(task.tensors.at(static_cast<std::size_t>(tensor)).storage);
  };
  std::vector<Value> ours = {task.outputs}, theirs = {candidate.outputs};
  for (std::size_t k = 0; k < std::min(task.inputs.size(), candidate.inputs.size()); ++k) {
    const auto* one = std::get_if<TensorRef>(&task.inputs[k].data);
    const auto* other = std::get_if<TensorRef>(&candidate.inputs[k].data);
    if (one == nullptr || other == nullptr || !is_written(one->index)) continue;
    ours.push_back(task.inputs[k]);
    theirs.push_back(candidate.inputs[k]);
  }
  for (const PlanParameter& buffer : task.parameters) {
    const auto same = std::ranges::find(candidate.parameters, buffer.name, &PlanParameter::name);
    if (!is_written(buffer.tensor) || same == candidate.parameters.end()) continue;
    ours.push_back(Value{TensorRef{buffer.tensor}});
    theirs.push_back(Value{TensorRef{same->tensor}});
  }
  if (ours.size() == 1) return std::nullopt;
  std::pair<Plan, Plan> both(task, candidate);
  both.first.outputs = Value{Tuple{std::move(ours)}};
  both.second.outputs = Value{Tuple{std::move(theirs)}};
  return both;
}

}  // namespace tritonsmith::gym::plan::analysis
