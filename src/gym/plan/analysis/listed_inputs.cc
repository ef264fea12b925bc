#include "gym/plan/analysis/listed_inputs.h"

#include <algorithm>
#include <set>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {

bool is_list_in_source(const Plan& task, int input) {
  const auto storage_of = [&](int index) {
    return task.tensors.at(static_cast<std::size_t>(index)).storage;
  };
  std::set<int> lists;  // storages
  for (const PlanStep& step : task.steps) {
    if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      lists.insert(storage_of(constant->output));
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::inputs) continue;
    std::vector<int> read;
    for (const Value& argument : call->args) append_tensors(argument, read);
    const bool is_copy =
        operators::is(call->op, operators::Trait::casts) &&
        std::ranges::all_of(read, [&](int each) { return lists.contains(storage_of(each)); });
    for (const int output : call->outputs)
      if (output >= 0 && is_copy)
        lists.insert(storage_of(output));
      else if (output >= 0)
        lists.erase(storage_of(output));
  }
  return lists.contains(storage_of(input));
}

}  // namespace tritonsmith::gym::plan::analysis
