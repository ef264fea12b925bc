#include "gym/plan/analysis/random_origin.h"

#include <algorithm>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::Trait;

bool is_number(const Value& value) {
  return std::holds_alternative<double>(value.data) ||
         std::holds_alternative<std::int64_t>(value.data);
}

bool is_one_element(const Plan& task, const Value& value) {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  return tensor != nullptr &&
         std::ranges::all_of(task.tensors.at(static_cast<std::size_t>(tensor->index)).shape,
                             [](std::int64_t size) { return size == 1; });
}

// True for an operator on two tensors. random_origin_of() checks whether each was drawn.
bool calculates_of_draws(const AtenCall& call) {
  return plan::operators::is(call.op, Trait::combines_draws) && call.args.size() > 1 &&
         std::holds_alternative<TensorRef>(call.args[0].data) &&
         std::holds_alternative<TensorRef>(call.args[1].data);
}

// Says what an operator leaves of its arguments' random origin. Copies, casts, views of some or all
// elements and joins keep the elements as drawn. Arithmetic with one number or with other drawn
// numbers makes them calculated.
RandomOrigin kept_chance(const Plan& task, const AtenCall& call) {
  const plan::operators::Traits traits =
      plan::operators::traits_of(plan::operators::aten_base_name(call.op));
  if (traits.has(Trait::keeps_as_drawn)) return RandomOrigin::as_drawn;
  const auto is_one = [&](const Value& value) {
    return is_number(value) || is_one_element(task, value);
  };
  const bool with_number = traits.has(Trait::scales) && call.args.size() > 1 &&
                           (is_one(call.args[0]) || is_one(call.args[1]));
  return with_number || calculates_of_draws(call) || traits.has(Trait::negates)
             ? RandomOrigin::calculated
             : RandomOrigin::none;
}

// Says how a tensor was made, as the first `end` steps leave it: by a random generator alone, or
// arranged and scaled since.
RandomOrigin random_origin_of(const Plan& task, int tensor, std::size_t end) {
  RandomOrigin chance = RandomOrigin::none;
  for (std::size_t k = 0; k < end; ++k) {
    const auto* call = std::get_if<AtenCall>(&task.steps[k].action);
    if (call == nullptr || task.steps[k].phase != Phase::inputs) continue;
    const bool makes = std::ranges::find(call->outputs, tensor) != call->outputs.end();
    const bool changes = plan::operators::writes_in_place(call->op) && !call->outputs.empty() &&
                         call->outputs[0] >= 0 &&
                         storage_of(task, call->outputs[0]) == storage_of(task, tensor);
    if ((!makes && !changes) || plan::operators::leaves_unwritten(call->op))
      continue;  // a later step fills this memory
    if (plan::operators::is(call->op, Trait::generator)) {
      chance = RandomOrigin::as_drawn;
      continue;
    }
    const RandomOrigin kept = kept_chance(task, *call);
    if (kept == RandomOrigin::none) return RandomOrigin::none;
    std::vector<int> from;
    for (const Value& argument : call->args) append_tensors(argument, from);
    if (plan::operators::aten_base_name(call->op) == "copy_" && !from.empty())
      from.erase(from.begin());
    RandomOrigin before = from.empty() ? RandomOrigin::none : kept;
    for (const int index : from) {
      const RandomOrigin one = random_origin_of(task, index, k);
      before = one == RandomOrigin::none || before == RandomOrigin::none ? RandomOrigin::none
                                                                         : std::max(before, one);
    }
    if (before == RandomOrigin::none) return RandomOrigin::none;
    chance = before;
  }
  return chance;
}

}  // namespace

RandomOrigin random_origin_of(const Plan& task, int tensor) {
  return random_origin_of(task, tensor, task.steps.size());
}

int storage_of(const Plan& plan, int tensor) {
  return plan.tensors.at(static_cast<std::size_t>(tensor)).storage;
}

namespace {

// A plan does not say what a kernel reads and what it writes. So the content of each tensor that
// the kernel receives follows from all of them.
void follow_launch(const Plan& plan, const LaunchStep& launch, Sources& sources) {
  std::vector<int> given;
  for (const LaunchChoice& choice : launch.choices)
    for (const Value& argument : choice.arguments) append_tensors(argument, given);
  std::set<int> from;
  for (const int index : given) from.merge(std::set<int>(sources[storage_of(plan, index)]));
  for (const int index : given) sources[storage_of(plan, index)] = from;
}

}  // namespace

Sources sources_of(const Plan& plan, Phase phase, const std::set<int>& roots) {
  Sources sources;
  for (const int root : roots) sources[root] = {root};
  for (const PlanStep& step : plan.steps) {
    if (step.phase != phase) continue;
    if (const auto* launch = std::get_if<LaunchStep>(&step.action))
      follow_launch(plan, *launch, sources);
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr) continue;
    const std::vector<int> read = tensors_given_to(*call);
    if (plan::operators::only_allocates(call->op)) continue;
    for (const int output : call->outputs)
      for (const int input : read)
        if (output >= 0) {
          const std::set<int> from = sources[storage_of(plan, input)];
          sources[storage_of(plan, output)].insert(from.begin(), from.end());
        }
  }
  return sources;
}

std::set<int> drawn_storages(const Plan& plan, Phase phase) {
  std::set<int> drawn;
  for (const PlanStep& step : plan.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != phase || !plan::operators::is_random_operator(call->op))
      continue;
    for (const int output : call->outputs)
      if (output >= 0) drawn.insert(storage_of(plan, output));
  }
  std::set<int> all = drawn;
  for (const auto& [storage, sources] : sources_of(plan, phase, drawn))
    if (!sources.empty()) all.insert(storage);
  return all;
}

}  // namespace tritonsmith::gym::plan::analysis
