#include "gym/plan/analysis/whole_inputs.h"

#include <algorithm>
#include <set>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

bool is_floating(DType dtype) {
  switch (dtype) {
    case DType::boolean:
    case DType::uint8:
    case DType::int8:
    case DType::int16:
    case DType::int32:
    case DType::int64:
      return false;
    default:
      return true;
  }
}

}  // namespace

bool is_only_computed_with(const Plan& task, int input) {
  const auto tensor = [&](int index) -> const PlanTensor& {
    return task.tensors.at(static_cast<std::size_t>(index));
  };
  std::set<int> whole = {tensor(input).storage};  // storages of numbers that follow from the input
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    std::vector<int> read;
    for (const Value& argument : call->args) append_tensors(argument, read);
    for (const auto& [name, argument] : call->kwargs) append_tensors(argument, read);
    if (std::ranges::none_of(read, [&](int each) { return whole.contains(tensor(each).storage); }))
      continue;
    if (!operators::is(call->op, operators::Trait::elementwise) &&
        !operators::only_arranges(call->op))
      return false;
    for (const int made : call->outputs)
      if (made >= 0 && !is_floating(tensor(made).dtype)) whole.insert(tensor(made).storage);
  }
  std::vector<int> outputs;
  append_tensors(task.outputs, outputs);
  return std::ranges::none_of(outputs,
                              [&](int each) { return whole.contains(tensor(each).storage); });
}

}  // namespace tritonsmith::gym::plan::analysis
