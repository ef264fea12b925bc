#include "gym/plan/analysis/epsilons.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

// The tensors that hold one number of the task's source.
class Numbers {
 public:
  void note(const AtenCall& call) {
    if (operators::aten_base_name(call.op) != "scalar_tensor" || call.args.empty()) return;
    if (const auto number = number_of(call.args[0]))
      for (const int output : call.outputs) held_[output] = *number;
  }
  // Returns the number that the value is, or that its tensor holds.
  std::optional<double> at(const Value& value) const {
    if (const auto* tensor = std::get_if<TensorRef>(&value.data)) {
      const auto held = held_.find(tensor->index);
      return held == held_.end() ? std::nullopt : std::optional(held->second);
    }
    const auto* number = std::get_if<double>(&value.data);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }

 private:
  std::map<int, double> held_;  // by tensor of the plan
};

std::optional<Epsilon> epsilon_of(const AtenCall& call, const Numbers& numbers) {
  const std::string_view name = operators::aten_base_name(call.op);
  const auto number_at = [&](std::size_t position, double if_absent) {
    if (call.args.size() <= position) return if_absent;
    return numbers.at(call.args[position]).value_or(0);
  };
  if (operators::has_trait(name, operators::Trait::keeps_from_zero))
    return Epsilon{number_at(1, 0), true};
  using operators::Meaning;
  for (const Meaning meaning : {Meaning::epsilon, Meaning::divisor_epsilon})
    if (const auto* argument = operators::number_argument(name, meaning))
      return Epsilon{number_at(argument->position, argument->if_absent.value_or(0)),
                     meaning == Meaning::divisor_epsilon};
  return std::nullopt;
}

}  // namespace

std::vector<Epsilon> epsilons(const Plan& task) {
  constexpr double largest = 1e-2;
  std::vector<Epsilon> found;
  Numbers numbers;
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    numbers.note(*call);
    const auto one = epsilon_of(*call, numbers);
    if (one && one->value > 0 && one->value <= largest &&
        std::ranges::find(found, *one) == found.end())
      found.push_back(*one);
  }
  std::ranges::sort(found, std::greater{}, &Epsilon::value);
  return found;
}

}  // namespace tritonsmith::gym::plan::analysis
