#include "gym/plan/analysis/forward_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::Trait;

std::optional<double> number_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  return std::nullopt;
}

void add_bounds(const AtenCall& call, std::vector<double>& bounds) {
  constexpr double most = 1e6;
  const auto add = [&](const Value& value) {
    const auto number = number_of(value);
    if (number && std::abs(*number) <= most && std::ranges::find(bounds, *number) == bounds.end())
      bounds.push_back(*number);
  };
  for (const Value& argument : call.args) add(argument);
  for (const auto& [name, argument] : call.kwargs) add(argument);
}

bool scales(const AtenCall& call) {
  return plan::operators::is(call.op, Trait::scales) && call.args.size() > 1 &&
         (number_of(call.args[0]) || number_of(call.args[1]));
}

// x != x is true for NaN alone.
bool compares_with_itself(const AtenCall& call) {
  return call.args.size() > 1 && std::holds_alternative<TensorRef>(call.args[0].data) &&
         call.args[0] == call.args[1] && plan::operators::is(call.op, Trait::steps);
}

bool gives_places(std::string_view op) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"argmax", "argmin", "cummax", "cummin", "_cummax_helper", "max_pool2d_with_indices",
       "max_pool3d_with_indices", "unique_dim", "_unique2"});
  if (op == "aten::max.dim" || op == "aten::min.dim") return true;
  return plan::operators::is(op, Trait::orders) ||
         std::ranges::find(kNames, plan::operators::aten_base_name(op)) != kNames.end();
}

bool overwrites_places(const AtenCall& call) {
  if (!plan::operators::is(call.op, Trait::overwrites_places)) return false;
  constexpr std::size_t accumulate = 3;  // of index_put and put
  return call.args.size() <= accumulate || !(call.args[accumulate] == Value{true});
}

// The tensors that hold an input's elements as they are.
class AsGiven {
 public:
  explicit AsGiven(const Plan& task) {
    std::vector<int> inputs;
    for (const Value& input : task.inputs) append_tensors(input, inputs);
    tensors_.insert(inputs.begin(), inputs.end());
  }
  bool has(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    return tensor != nullptr && tensors_.contains(tensor->index);
  }
  void follow(const AtenCall& call) {
    if (!plan::operators::only_arranges(call.op)) return;
    std::vector<int> read;
    for (const Value& argument : call.args) append_tensors(argument, read);
    if (std::ranges::any_of(read, [&](int index) { return tensors_.contains(index); }))
      tensors_.insert(call.outputs.begin(), call.outputs.end());
  }

 private:
  std::set<int> tensors_;
};

}  // namespace

ForwardFacts forward_facts(const Plan& task) {
  ForwardFacts facts;
  AsGiven given(task);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    facts.scales = facts.scales || scales(*call);
    if (plan::operators::is(call->op, Trait::bounds)) add_bounds(*call, facts.bounds);
    facts.treats_specials = facts.treats_specials || compares_with_itself(*call) ||
                            plan::operators::is(call->op, Trait::specials);
    facts.jumps_at_inputs =
        facts.jumps_at_inputs || (plan::operators::is(call->op, Trait::steps) &&
                                  !call->args.empty() && given.has(call->args[0]));
    facts.gives_places = facts.gives_places || gives_places(call->op);
    facts.overwrites_places = facts.overwrites_places || overwrites_places(*call);
    given.follow(*call);
  }
  return facts;
}

}  // namespace tritonsmith::gym::plan::analysis
