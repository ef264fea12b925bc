#include "gym/plan/analysis/eval_mode.h"

#include <algorithm>

#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::TrainingFlag;

void clear_flag(AtenCall& call, const TrainingFlag& flag) {
  if (flag.position < call.args.size()) {
    call.args[flag.position] = Value{flag.in_eval_mode};
    return;
  }
  for (auto& [keyword, value] : call.kwargs)
    if (keyword == flag.keyword) value = Value{flag.in_eval_mode};
}

bool is_recurrent(std::string_view op) {
  return plan::operators::is(op, plan::operators::Trait::recurrent);
}

bool recurrent_draws(const AtenCall& call, std::size_t dropout) {
  return call.args.size() > dropout + 1 && !(call.args[dropout] == Value{0.0}) &&
         !(call.args[dropout + 1] == Value{false});
}

// The probability of dropout within attention, by its position or its name; null: none is given.
template <typename Call>
auto* attention_dropout(Call& call) {
  const auto position = plan::operators::dropout_probability(call.op);
  decltype(call.args.data()) found = nullptr;
  if (!position || is_recurrent(call.op)) return found;
  if (*position < call.args.size()) found = &call.args[*position];
  for (auto& [keyword, value] : call.kwargs)
    if (keyword == "dropout_p") found = &value;
  return found;
}

bool draws(const AtenCall& call) {
  const auto dropout = plan::operators::dropout_probability(call.op);
  if (dropout && is_recurrent(call.op)) return recurrent_draws(call, *dropout);
  const TrainingFlag* flag =
      plan::operators::training_flag(plan::operators::aten_base_name(call.op));
  if (flag != nullptr && flag->position < call.args.size() &&
      call.args[flag->position] == Value{false})
    return false;
  if (dropout) {
    const Value* probability = attention_dropout(call);
    return probability != nullptr && !(*probability == Value{0.0});
  }
  return plan::operators::is_random_operator(call.op);
}

bool draws_alone(const AtenCall& call) {
  return tensors_given_to(call).empty() && plan::operators::is_random_operator(call.op);
}

}  // namespace

bool draws_in_forward(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const PlanStep& step) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    return call != nullptr && step.phase == Phase::forward && draws(*call);
  });
}

Plan in_eval_mode(Plan plan) {
  for (PlanStep& step : plan.steps) {
    auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || (step.phase != Phase::forward && step.phase != Phase::first_call))
      continue;
    if (const TrainingFlag* flag =
            plan::operators::training_flag(plan::operators::aten_base_name(call->op)))
      clear_flag(*call, *flag);
    const auto dropout = plan::operators::dropout_probability(call->op);
    if (dropout && is_recurrent(call->op) && *dropout + 1 < call->args.size())
      call->args[*dropout + 1] = Value{false};
    if (Value* probability = attention_dropout(*call)) *probability = Value{0.0};
  }
  return plan;
}

Plan with_draws_first(Plan plan) {
  int draws = 0;
  for (PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward || !draws_alone(*call)) continue;
    step.phase = Phase::init;
    step.draw = draws++;
  }
  return plan;
}

}  // namespace tritonsmith::gym::plan::analysis
