#include "gym/plan/analysis/rounded_tensors.h"

#include <algorithm>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// Says whether each result of the call is one of its operands, exactly, or one of its numbers.
bool keeps_numbers(const AtenCall& call) {
  using operators::Trait;
  return operators::only_arranges(call.op) || operators::is(call.op, Trait::asks_of_all) ||
         exact_scale(call).has_value() ||
         operators::has_trait(operators::functional_name(call.op), Trait::keeps_numbers);
}

}  // namespace

std::vector<bool> rounded_tensors(const Plan& task) {
  std::vector<bool> rounded(task.tensors.size(), false);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward ||
        operators::is(call->op, operators::Trait::rounds))
      continue;
    const std::vector<int> given = tensors_given_to(*call);
    const bool rounds =
        keeps_numbers(*call)
            ? std::ranges::any_of(given,
                                  [&](int k) { return rounded.at(static_cast<std::size_t>(k)); })
            : !given.empty();
    for (const int made : call->outputs)
      if (made >= 0) rounded.at(static_cast<std::size_t>(made)) = rounds;
  }
  return rounded;
}

}  // namespace tritonsmith::gym::plan::analysis
