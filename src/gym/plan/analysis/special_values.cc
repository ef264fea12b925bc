#include "gym/plan/analysis/special_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::Trait;
using plan::operators::Traits;

Traits traits_of(const AtenCall& call) {
  return plan::operators::traits_of(plan::operators::aten_base_name(call.op));
}

bool treats_each(const AtenCall& call) {
  const Traits traits = traits_of(call);
  for (const Trait trait :
       {Trait::elementwise, Trait::also_elementwise, Trait::steps, Trait::bounds, Trait::of_two,
        Trait::inverts, Trait::scales, Trait::zero_signs})
    if (traits.has(trait)) return true;
  return plan::operators::only_arranges(call.op);
}

// The largest finite number of the types for which it is a usual bound.
std::optional<double> largest_of(DType dtype) {
  constexpr double of_float16 = 65504;
  switch (dtype) {
    case DType::float16:
      return of_float16;
    case DType::bfloat16:
    case DType::float32:
      return std::numeric_limits<float>::max();
    case DType::float64:
      return std::numeric_limits<double>::max();
    default:
      return std::nullopt;
  }
}

bool are_same_tensor(const AtenCall& call) {
  return call.args.size() > 1 && std::holds_alternative<TensorRef>(call.args[0].data) &&
         call.args[0] == call.args[1];
}

void add(std::set<int>& all, const std::set<int>& more) { all.insert(more.begin(), more.end()); }

}  // namespace

SpecialValues::SpecialValues(const Plan& task) : task_(task) {
  std::vector<int> inputs;
  for (const Value& input : task.inputs) append_tensors(input, inputs);
  for (const int input : inputs) {
    known_[input] = {.is_by_element = true, .from = {input}};
    if (is_real(input)) known_[input].zeros = {input};
  }
  for (const PlanParameter& parameter : task.parameters)
    known_[parameter.tensor] = {.is_by_element = true};
  for (const PlanStep& step : task.steps)
    if (const auto* constant = std::get_if<ConstantStep>(&step.action))
      known_[constant->output] = {.is_by_element = true};
}

const SpecialValues::Known* SpecialValues::known(const Value& value) const {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  const auto found = tensor == nullptr ? known_.end() : known_.find(tensor->index);
  return found == known_.end() ? nullptr : &found->second;
}

const SpecialValues::Known* SpecialValues::known(const AtenCall& call, std::size_t argument) const {
  return call.args.size() > argument ? known(call.args[argument]) : nullptr;
}

std::optional<double> SpecialValues::number_in(const Value& value) const {
  const Known* found = known(value);
  return found != nullptr ? found->number : number_of(value);
}

// Real or complex, and no whole number.
bool SpecialValues::is_real(int tensor) const {
  const DType dtype = task_.tensors.at(static_cast<std::size_t>(tensor)).dtype;
  return largest_of(dtype) || dtype == DType::complex64 || dtype == DType::complex128;
}

// Nearer than a factor of four, because tasks write 1e38 or 60000, too.
bool SpecialValues::is_near_largest(const AtenCall& call, double number) const {
  constexpr double near = 4;
  for (const Value& argument : call.args)
    if (const auto* tensor = std::get_if<TensorRef>(&argument.data)) {
      const auto largest =
          largest_of(task_.tensors.at(static_cast<std::size_t>(tensor->index)).dtype);
      return largest && std::abs(number) >= *largest / near;
    }
  return false;
}

// NaN is unequal to itself, and no bound holds for it.
void SpecialValues::note_comparison(const AtenCall& call) {
  if (plan::operators::is(call.op, Trait::steps) && are_same_tensor(call)) tells_nan_ = true;
  const bool compares = plan::operators::is(call.op, Trait::compares);
  const bool asks_for_truth =
      plan::operators::is(call.op, Trait::asks_for_zeros) ||
      (plan::operators::is(call.op, Trait::casts) && !call.outputs.empty() &&
       call.outputs[0] >= 0 &&
       task_.tensors.at(static_cast<std::size_t>(call.outputs[0])).dtype == DType::boolean);
  for (std::size_t k = 0; k < std::min<std::size_t>(2, call.args.size()); ++k) {
    const Known* compared = known(call, k);
    if (compared == nullptr) continue;
    if (compared->is_zero_of_all && (compares || asks_for_truth)) tells_nan_ = true;
    if (!compares || !compared->is_by_element || call.args.size() < 2) continue;
    const auto number = number_in(call.args[1 - k]);
    if (number && is_near_largest(call, *number)) tells_nan_ = true;
  }
}

// Infinity becomes a number. An infinite bound is none. NaN is left out, because a maximum in Triton
// does not pass it on.
void SpecialValues::note_clamp(const AtenCall& call) {
  const Known* clamped = known(call, 0);
  if (!plan::operators::is(call.op, Trait::clamps) || clamped == nullptr || !clamped->is_by_element)
    return;
  const auto note = [&](const Value& bound) {
    const auto number = number_in(bound);
    if (number && std::isfinite(*number) && is_near_largest(call, *number))
      clamps_infinities_ = true;
  };
  for (std::size_t k = 1; k < call.args.size(); ++k) note(call.args[k]);
  for (const auto& [name, bound] : call.kwargs) note(bound);
}

void SpecialValues::note_zero_signs(const AtenCall& call) {
  const Traits traits = traits_of(call);
  const bool bounds =
      traits.has(Trait::steps) || traits.has(Trait::clamps) || traits.has(Trait::specials);
  for (std::size_t k = 0; k < call.args.size(); ++k) {
    const Known* given = known(call, k);
    if (given == nullptr) continue;
    if (traits.has(Trait::zero_signs)) add(zero_signs_, given->zeros);
    if (bounds) add(zero_signs_, given->poles);
  }
}

void SpecialValues::follow_zeros(const AtenCall& call, Known& made) const {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  const auto* first = known(call, 0);
  const bool arranges =
      plan::operators::only_arranges(call.op) && !plan::operators::only_allocates(call.op);
  const double factor = call.args.size() > 1 ? number_in(call.args[1]).value_or(0) : 0;
  const bool scales = (name == "mul" || name == "div") && factor != 0 && std::isfinite(factor);
  const bool keeps_zeros = arranges || plan::operators::is(call.op, Trait::negates) || scales;
  for (const int read : tensors_given_to(call))
    if (const Known* given = known(Value{TensorRef{read}})) {
      if (keeps_zeros) add(made.zeros, given->zeros);
      if (arranges || plan::operators::is(call.op, Trait::linear)) add(made.poles, given->poles);
    }
  if (!plan::operators::is(call.op, Trait::inverts)) return;
  // 0 / 0 has no sign.
  const bool is_quotient = call.args.size() > 1;
  const Known* divisor = is_quotient ? known(call, 1) : first;
  if (divisor == nullptr) return;
  for (const int input : divisor->zeros)
    if (!is_quotient || first == nullptr || !first->from.contains(input)) made.poles.insert(input);
}

SpecialValues::Known SpecialValues::after(const AtenCall& call) const {
  Known made;
  const std::vector<int> read = tensors_given_to(call);
  made.is_by_element = treats_each(call);
  for (const int tensor : read) {
    const Known* given = known(Value{TensorRef{tensor}});
    made.is_by_element = made.is_by_element && given != nullptr && given->is_by_element;
    if (given != nullptr) add(made.from, given->from);
  }
  if (plan::operators::is(call.op, Trait::fills) && call.args.size() > 1)
    made.number = number_of(call.args[1]);
  if (plan::operators::is(call.op, Trait::zeros)) made.number = 0;
  if (plan::operators::only_allocates(call.op))
    return {.is_by_element = true, .number = made.number};
  const std::string_view name = plan::operators::aten_base_name(call.op);
  const Known* first = known(call, 0);
  if (plan::operators::only_arranges(call.op) && first != nullptr && read.size() == 1 &&
      !made.number)
    made.number = first->number;
  const bool keeps_zero = plan::operators::only_arranges(call.op) || name == "abs" || name == "neg";
  made.is_zero_of_all = keeps_zero && first != nullptr && first->is_zero_of_all;
  if (name == "sub" && are_same_tensor(call) && call.kwargs.empty()) made.is_zero_of_all = true;
  if (name == "mul" && call.args.size() > 1 &&
      (number_in(call.args[0]) == 0 || number_in(call.args[1]) == 0))
    made.is_zero_of_all = true;
  follow_zeros(call, made);
  return made;
}

void SpecialValues::follow(const AtenCall& call) {
  if (plan::operators::is(call.op, Trait::specials)) tells_nan_ = true;
  note_comparison(call);
  note_clamp(call);
  note_zero_signs(call);
  is_by_element_ = is_by_element_ && treats_each(call);
  Known made = after(call);
  for (const int output : call.outputs) {
    if (output < 0) continue;
    known_[output] = made;
    if (!is_real(output)) known_[output].zeros = known_[output].poles = {};
  }
}

std::vector<double> SpecialValues::numbers() const {
  constexpr double endless = std::numeric_limits<double>::infinity();
  // Infinity comes first, because a question for infinities does not ask for NaN.
  if (tells_nan_) return {endless, std::numeric_limits<double>::quiet_NaN(), -endless};
  // The largest finite numbers have no sum.
  if (clamps_infinities_ && is_by_element_) return {endless, -endless};
  return {};
}

}  // namespace tritonsmith::gym::plan::analysis
