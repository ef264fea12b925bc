#include "gym/plan/analysis/whole_inputs.h"

#include <algorithm>
#include <set>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {

bool holds_whole_numbers(DType dtype) {
  switch (dtype) {
    case DType::uint8:
    case DType::uint16:
    case DType::uint32:
    case DType::uint64:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return true;
    default:
      return false;
  }
}

bool reads_in_forward(const Plan& task, int input) {
  const auto storage_of = [&](int index) {
    return task.tensors.at(static_cast<std::size_t>(index)).storage;
  };
  return std::ranges::any_of(task.steps, [&](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) return false;
    return std::ranges::any_of(tensors_given_to(*call),
                               [&](int given) { return storage_of(given) == storage_of(input); });
  });
}

bool is_only_computed_with(const Plan& task, int input) {
  const auto tensor = [&](int index) -> const PlanTensor& {
    return task.tensors.at(static_cast<std::size_t>(index));
  };
  const auto is_whole = [&](int index) {
    return tensor(index).dtype == DType::boolean || holds_whole_numbers(tensor(index).dtype);
  };
  std::set<int> whole = {tensor(input).storage};  // storages of numbers that follow from the input
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    const std::vector<int> read = tensors_given_to(*call);
    if (std::ranges::none_of(read, [&](int each) { return whole.contains(tensor(each).storage); }))
      continue;
    if (!operators::is(call->op, operators::Trait::elementwise) &&
        !operators::only_arranges(call->op))
      return false;
    for (const int made : call->outputs)
      if (made >= 0 && is_whole(made)) whole.insert(tensor(made).storage);
  }
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  return std::ranges::none_of(outputs,
                              [&](int each) { return whole.contains(tensor(each).storage); });
}

}  // namespace tritonsmith::gym::plan::analysis
