#include "gym/plan/analysis/epsilons.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "gym/plan/analysis/constant_numbers.h"
#include "gym/plan/operators/operator_arguments.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

std::optional<Epsilon> epsilon_of(const AtenCall& call, const ConstantNumbers& constants) {
  const std::string_view name = operators::aten_base_name(call.op);
  const auto number_at = [&](std::size_t position, double if_absent) {
    if (call.args.size() <= position) return if_absent;
    const std::vector<double> numbers = constants.of(call.args[position]);
    return numbers.size() == 1 ? numbers[0] : 0;
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
  const ConstantNumbers constants(task);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    const auto one = epsilon_of(*call, constants);
    if (one && one->value > 0 && one->value <= largest &&
        std::ranges::find(found, *one) == found.end())
      found.push_back(*one);
  }
  std::ranges::sort(found, std::greater{}, &Epsilon::value);
  return found;
}

}  // namespace tritonsmith::gym::plan::analysis
