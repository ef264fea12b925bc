#include "gym/plan/analysis/truth_values.h"

#include <algorithm>
#include <string_view>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::Trait;

bool treats_each(std::string_view op) {
  return plan::operators::is(op, Trait::elementwise) || plan::operators::only_arranges(op) ||
         plan::operators::is(op, Trait::steps) || plan::operators::is(op, Trait::also_elementwise);
}

}  // namespace

TruthValues::TruthValues(const Plan& task) : task_(task) {
  std::vector<int> inputs;
  for (const Value& input : task.inputs) append_tensors(input, inputs);
  by_element_.insert(inputs.begin(), inputs.end());
}

bool TruthValues::is_one(const Value& value) const {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  return tensor != nullptr && truths_.contains(tensor->index);
}

void TruthValues::follow(const AtenCall& call) {
  if (!treats_each(call.op)) return;
  const std::vector<int> read = tensors_given_to(call);
  if (read.empty() ||
      !std::ranges::all_of(read, [&](int each) { return by_element_.contains(each); }))
    return;
  const bool are_truths =
      std::ranges::all_of(read, [&](int each) { return truths_.contains(each); });
  for (const int output : call.outputs) {
    if (output < 0) continue;
    by_element_.insert(output);
    if (are_truths || task_.tensors.at(static_cast<std::size_t>(output)).dtype == DType::boolean)
      truths_.insert(output);
  }
}

bool asks_of_all(const AtenCall& call) { return plan::operators::is(call.op, Trait::asks_of_all); }

}  // namespace tritonsmith::gym::plan::analysis
