#include "gym/plan/analysis/maximum_scales.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::Trait;

// Views that keep the order of elements, and copies to a type that holds them.
bool keeps_order(const AtenCall& call) {
  return operators::is(call.op, Trait::rearranges) &&
         operators::is(call.op, Trait::keeps_statistic);
}

// The dimension that the call reduces: its only one, or the last if it reduces all of them, or none
// if it reduces some.
std::optional<std::int64_t> reduced_dimension(const AtenCall& call) {
  if (call.args.size() < 2) return -1;
  if (const auto* dim = std::get_if<std::int64_t>(&call.args[1].data)) return *dim;
  const auto* list = std::get_if<List>(&call.args[1].data);
  if (list == nullptr || list->items.size() > 1) return std::nullopt;
  if (list->items.empty()) return -1;
  const auto* only = std::get_if<std::int64_t>(&list->items[0].data);
  return only == nullptr ? std::nullopt : std::optional(*only);
}

}  // namespace

MaximumScales::MaximumScales(const Plan& task) : task_(task) {
  std::vector<int> inputs;
  for (const Value& input : task.inputs) append_tensors(input, inputs);
  for (const int input : inputs)
    known_[input] = {
        .of = {.input = input, .shape = task.tensors.at(static_cast<std::size_t>(input)).shape}};
}

const MaximumScales::Known* MaximumScales::known(const AtenCall& call, std::size_t argument) const {
  if (argument >= call.args.size()) return nullptr;
  const auto* tensor = std::get_if<TensorRef>(&call.args[argument].data);
  const auto found = tensor == nullptr ? known_.end() : known_.find(tensor->index);
  return found == known_.end() ? nullptr : &found->second;
}

bool MaximumScales::is_rounded_by(const AtenCall& call) const {
  const Known* first = known(call, 0);
  return first != nullptr && first->kind == Kind::quotient &&
         plan::operators::aten_base_name(call.op) == "round" && call.kwargs.empty();
}

std::optional<MaximumScales::Known> MaximumScales::after_maximum(const AtenCall& call,
                                                                 const Known& sizes) const {
  if (!operators::is(call.op, Trait::takes_maximum)) return std::nullopt;
  const auto dim = reduced_dimension(call);
  if (!dim || known(call, 1) != nullptr) return std::nullopt;
  Known made = sizes;
  made.kind = Kind::maxima;
  made.of.dim = *dim;
  return made;
}

std::optional<MaximumScales::Known> MaximumScales::after_number(const Known& first, bool divides,
                                                                double number) const {
  constexpr double largest = 64 * 1024;
  Known made = first;
  if (first.kind == Kind::maxima) {
    // A number such as 1 / 127 stands for the division.
    made.of.number = divides ? number : std::round(1 / number);
    made.kind = Kind::scale;
    if (!divides && std::abs(made.of.number * number - 1) > 1e-6) return std::nullopt;
  } else if (first.kind == Kind::inverse && first.of.number == 0 && !divides) {
    made.of.number = number;
  } else {
    return std::nullopt;
  }
  const bool is_usual = made.of.number >= 1 && made.of.number <= largest &&
                        made.of.number == std::floor(made.of.number);
  return is_usual ? std::optional(made) : std::nullopt;
}

std::optional<MaximumScales::Known> MaximumScales::after(const AtenCall& call) const {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  const Known* first = known(call, 0);
  if (first == nullptr) return std::nullopt;
  Known made = *first;
  if (keeps_order(call)) {
    if (call.outputs.empty() || call.outputs[0] < 0) return std::nullopt;
    if (first->kind == Kind::elements || first->kind == Kind::sizes)
      made.of.shape = task_.tensors.at(static_cast<std::size_t>(call.outputs[0])).shape;
    return made;
  }
  // Such a bound does not act on the largest sizes, or on quotients.
  if (operators::is(call.op, Trait::clamps) &&
      (first->kind == Kind::maxima || first->kind == Kind::quotient))
    return made;
  if (name == "abs" && first->kind == Kind::elements) {
    made.kind = Kind::sizes;
    return made;
  }
  if (name == "reciprocal" && (first->kind == Kind::maxima || first->kind == Kind::scale)) {
    made.kind = Kind::inverse;
    return made;
  }
  if (first->kind == Kind::sizes) return after_maximum(call, *first);
  const bool divides = name == "div";
  if ((!divides && name != "mul") || call.args.size() != 2 || !call.kwargs.empty())
    return std::nullopt;
  if (const auto number = number_of(call.args[1])) return after_number(*first, divides, *number);
  const Known* second = known(call, 1);
  if (second == nullptr || first->kind != Kind::elements || second->of.number == 0 ||
      second->of.input != first->of.input ||
      second->kind != (divides ? Kind::scale : Kind::inverse))
    return std::nullopt;
  made = *second;
  made.kind = Kind::quotient;
  return made;
}

void MaximumScales::follow(const AtenCall& call) {
  if (is_rounded_by(call)) {
    const MaximumScale& of = known(call, 0)->of;
    if (std::ranges::find(found_, of.input, &MaximumScale::input) == found_.end())
      found_.push_back(of);
  }
  const auto made = after(call);
  for (std::size_t k = 0; k < call.outputs.size(); ++k) {
    if (call.outputs[k] < 0) continue;
    if (made && k == 0)
      known_[call.outputs[k]] = *made;
    else
      known_.erase(call.outputs[k]);
  }
}

}  // namespace tritonsmith::gym::plan::analysis
