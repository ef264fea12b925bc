#include "gym/plan/analysis/forward_facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
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

// Casts and roundings are no element of the roofline's table, but treat each element by itself.
bool works_by_element(std::string_view op) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"_to_copy", "ceil", "floor", "frac", "round", "trunc"});
  return plan::operators::is(op, Trait::elementwise) ||
         std::ranges::find(kNames, plan::operators::aten_base_name(op)) != kNames.end();
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

// Returns the power of two by which the call multiplies a tensor, or nothing. Of another whole
// factor it returns the power of two in it: halves of its inverse become halves, without rounding.
std::optional<double> exact_scale(const AtenCall& call) {
  constexpr int most = 10;  // 1024 and its inverse
  const std::string_view name = plan::operators::aten_base_name(call.op);
  if ((name != "mul" && name != "div") || call.args.size() != 2) return std::nullopt;
  const auto number = number_of(call.args[1]);
  int exponent = 0;
  if (number && name == "mul" && *number >= 1 && *number <= std::ldexp(1.0, most) &&
      *number == std::floor(*number)) {
    const auto whole = static_cast<std::uint64_t>(*number);
    return std::ldexp(1.0, std::countr_zero(whole));
  }
  if (!number || !(*number > 0) || std::frexp(*number, &exponent) != 0.5) return std::nullopt;
  exponent = name == "mul" ? exponent - 1 : 1 - exponent;
  return std::abs(exponent) <= most ? std::optional(std::ldexp(1.0, exponent)) : std::nullopt;
}

// The tensors that hold an input's elements as they are, or multiplied by a power of two.
class AsGiven {
 public:
  explicit AsGiven(const Plan& task) {
    std::vector<int> inputs;
    for (const Value& input : task.inputs) append_tensors(input, inputs);
    for (const int input : inputs) scales_[input] = 1;
    exact_.insert(inputs.begin(), inputs.end());
  }
  // Says whether two different elements of the input differ here, too.
  bool is_exact(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    return tensor != nullptr && exact_.contains(tensor->index);
  }
  // Returns the power of two, or nothing.
  std::optional<double> scale_of(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    const auto known = tensor == nullptr ? scales_.end() : scales_.find(tensor->index);
    return known == scales_.end() ? std::nullopt : std::optional(known->second);
  }
  // Says whether the value tells which elements of an input lie beyond a number.
  bool is_compared(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    return tensor != nullptr && compared_.contains(tensor->index);
  }
  void follow(const Plan& task, const AtenCall& call) {
    if (plan::operators::is(call.op, Trait::steps) && call.args.size() > 1 &&
        is_exact(call.args[0]) && number_of(call.args[1]))
      compared_.insert(call.outputs.begin(), call.outputs.end());
    const auto scale =
        plan::operators::only_arranges(call.op) ? std::optional(1.0) : exact_scale(call);
    if (!scale) return;
    std::vector<int> read;
    for (const Value& argument : call.args) append_tensors(argument, read);
    for (const int index : read)
      if (const auto before = scale_of(Value{TensorRef{index}})) {
        for (const int output : call.outputs) {
          if (output < 0) continue;
          scales_[output] = *before * *scale;
          if (exact_.contains(index) && keeps_digits(task, call, index, output))
            exact_.insert(output);
        }
        return;
      }
  }

 private:
  // A product with a power of two keeps all digits, and so does a type with no fewer bytes.
  static bool keeps_digits(const Plan& task, const AtenCall& call, int from, int to) {
    const auto bytes = [&](int tensor) {
      return bytes_of(task.tensors.at(static_cast<std::size_t>(tensor)).dtype);
    };
    if (bytes(to) < bytes(from)) return false;
    if (plan::operators::only_arranges(call.op)) return true;
    int exponent = 0;
    const auto factor = number_of(call.args[1]);
    return factor && std::frexp(*factor, &exponent) == 0.5;
  }

  std::map<int, double> scales_;
  std::set<int> exact_, compared_;
};

void note_any_or_all(const Plan& task, const AtenCall& call, const AsGiven& given,
                     ForwardFacts& facts) {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  if ((name != "any" && name != "all") || call.args.empty()) return;
  if (given.is_compared(call.args[0])) {
    facts.asks_any_or_all_compared = true;
  } else if (given.is_exact(call.args[0])) {
    const int asked = std::get<TensorRef>(call.args[0].data).index;
    const DType dtype = task.tensors.at(static_cast<std::size_t>(asked)).dtype;
    if (dtype != DType::boolean && dtype != DType::uint8) return;
    facts.asks_any_or_all = true;
  } else {
    return;
  }
  if (call.args.size() > 1)
    if (const auto* dimension = std::get_if<std::int64_t>(&call.args[1].data))
      facts.asked_dimension = *dimension;
}

}  // namespace

ForwardFacts forward_facts(const Plan& task) {
  ForwardFacts facts;
  AsGiven given(task);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    facts.is_elementwise = facts.is_elementwise && works_by_element(call->op);
    facts.scales = facts.scales || scales(*call);
    if (plan::operators::is(call->op, Trait::bounds)) add_bounds(*call, facts.bounds);
    facts.treats_specials = facts.treats_specials || compares_with_itself(*call) ||
                            plan::operators::is(call->op, Trait::specials);
    if (plan::operators::is(call->op, Trait::steps) && !call->args.empty())
      if (const auto scale = given.scale_of(call->args[0])) {
        facts.jumps_at_inputs = true;
        facts.scale_of_jumps = std::max(facts.scale_of_jumps, *scale);
      }
    facts.gives_places = facts.gives_places || gives_places(call->op);
    if (!call->args.empty() && given.is_exact(call->args[0]))
      facts.compares_inputs = facts.compares_inputs || gives_places(call->op) ||
                              (plan::operators::is(call->op, Trait::steps) &&
                               call->args.size() > 1 && given.is_exact(call->args[1]));
    facts.overwrites_places = facts.overwrites_places || overwrites_places(*call);
    note_any_or_all(task, *call, given, facts);
    given.follow(task, *call);
  }
  return facts;
}

std::vector<double> large_numbers(const Plan& task) {
  constexpr double least = 100;
  std::vector<double> numbers;
  const auto add = [&](const Value& value) {
    const auto number = number_of(value);
    if (number && std::abs(*number) >= least &&
        std::ranges::find(numbers, *number) == numbers.end())
      numbers.push_back(*number);
  };
  for (const PlanStep& step : task.steps)
    if (const auto* call = std::get_if<AtenCall>(&step.action);
        call != nullptr &&
        (!plan::operators::only_arranges(call->op) || plan::operators::only_allocates(call->op))) {
      for (const Value& argument : call->args) add(argument);
      for (const auto& [name, argument] : call->kwargs) add(argument);
    }
  return numbers;
}

}  // namespace tritonsmith::gym::plan::analysis
