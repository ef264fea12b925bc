#include "gym/plan/analysis/exact_at_halves.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

constexpr int kMostExponent = 10;       // 1024 and its inverse
constexpr double kMostUnits = 1 << 24;  // whole numbers up to this one are exact in float32

// The largest power of two of which the number is a multiple.
double unit_of(double number) {
  int exponent = 0;
  double digits = std::frexp(std::abs(number), &exponent);
  while (digits != std::floor(digits)) {
    digits *= 2;
    --exponent;
  }
  for (; digits != 0 && std::fmod(digits, 2) == 0; digits /= 2) ++exponent;
  return std::ldexp(1.0, exponent);
}

}  // namespace

bool has_few_digits(double number) {
  constexpr double largest = 64, units = 16;
  return std::abs(number) <= largest && units * number == std::floor(units * number);
}

std::optional<double> number_of(const Value& value) {
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*whole);
  return std::nullopt;
}

std::optional<double> exact_scale(const AtenCall& call) {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  if ((name != "mul" && name != "div") || call.args.size() != 2) return std::nullopt;
  const auto number = number_of(call.args[1]);
  int exponent = 0;
  if (number && name == "mul" && *number >= 1 && *number <= std::ldexp(1.0, kMostExponent) &&
      *number == std::floor(*number)) {
    const auto whole = static_cast<std::uint64_t>(*number);
    return std::ldexp(1.0, std::countr_zero(whole));
  }
  if (!number || !(*number > 0) || std::frexp(*number, &exponent) != 0.5) return std::nullopt;
  exponent = name == "mul" ? exponent - 1 : 1 - exponent;
  return std::abs(exponent) <= kMostExponent ? std::optional(std::ldexp(1.0, exponent))
                                             : std::nullopt;
}

ExactAtHalves::ExactAtHalves(const Plan& task) : task_(task) {
  std::vector<int> inputs;
  for (const Value& input : task.inputs) append_tensors(input, inputs);
  for (const int input : inputs) known_[input] = {};
}

const ExactAtHalves::Known* ExactAtHalves::known(const Value& value) const {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  const auto found = tensor == nullptr ? known_.end() : known_.find(tensor->index);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<double> ExactAtHalves::scale_of(const Value& value) const {
  const Known* found = known(value);
  return found == nullptr ? std::nullopt : std::optional(found->scale);
}

bool ExactAtHalves::is_as_given(const Value& value) const {
  const Known* found = known(value);
  return found != nullptr && found->is_as_given;
}

bool ExactAtHalves::is_quotient(const Value& value) const {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  return tensor != nullptr && divisors_.contains(tensor->index);
}

std::vector<double> ExactAtHalves::meeting_numbers(const AtenCall& call) const {
  std::vector<double> numbers;
  if (!call.args.empty() && is_quotient(call.args[0])) {
    const double divisor = divisors_.at(std::get<TensorRef>(call.args[0].data).index);
    const bool has_bounds = plan::operators::is(call.op, plan::operators::Trait::bounds);
    std::vector<double> targets = {0.5, 1.5};  // where a rounding jumps
    if (has_bounds) targets.clear();
    for (std::size_t k = 1; k < call.args.size() && has_bounds; ++k)
      if (const auto bound = number_of(call.args[k])) targets.push_back(*bound);
    for (const double target : targets)
      if (has_few_digits(target * divisor))
        numbers.insert(numbers.end(), {target * divisor, -target * divisor});
    return numbers;
  }
  const Known* first = call.args.empty() ? nullptr : known(call.args[0]);
  if (first == nullptr || !first->is_line) return numbers;
  for (std::size_t k = 1; k < call.args.size(); ++k)
    if (const auto bound = number_of(call.args[k])) {
      const double number = (*bound - first->offset) / first->factor;
      if (!has_few_digits(number)) continue;
      numbers.push_back(number);
      if (first->either_sign) numbers.push_back(-number);
    }
  return numbers;
}

// The call's first tensor and numbers.
std::optional<ExactAtHalves::Known> ExactAtHalves::after_numbers(const AtenCall& call,
                                                                 const Known& before) const {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  Known made = before;
  made.is_as_given = false;
  if (call.args.size() == 1) {
    if (name == "neg") {
      made.factor = -made.factor;
      made.offset = -made.offset;
      return made;
    }
    if (name == "abs") {
      made.either_sign = made.either_sign || made.offset == 0;
      made.is_line = made.is_line && made.offset == 0;
      made.factor = std::abs(made.factor);
      return made;
    }
    return name == "relu" ? std::optional(made) : std::nullopt;
  }
  const auto number = call.args.size() == 2 ? number_of(call.args[1]) : std::nullopt;
  if (!number || !has_few_digits(*number)) return std::nullopt;
  made.is_line = made.is_line && !made.either_sign;
  if (name == "add" || name == "sub") {
    made.offset += name == "add" ? *number : -*number;
    made.largest += std::abs(*number);
    made.unit = std::min(made.unit, *number == 0 ? made.unit : unit_of(*number));
    return made;
  }
  if (name != "mul" || *number == 0) return std::nullopt;
  made = scaled(made, *number, 1);
  made.unit = before.unit * unit_of(*number);
  return made;
}

ExactAtHalves::Known ExactAtHalves::scaled(const Known& before, double by, double scale) {
  Known made = before;
  made.scale *= scale;
  made.factor *= by;
  made.offset *= by;
  made.largest *= std::abs(by);
  made.unit *= scale;
  return made;
}

// Sums, products and the like of two exact tensors.
std::optional<ExactAtHalves::Known> ExactAtHalves::after_tensors(const AtenCall& call) const {
  if (call.args.size() != 2) return std::nullopt;
  const Known *left = known(call.args[0]), *right = known(call.args[1]);
  if (left == nullptr || right == nullptr) return std::nullopt;
  const bool multiplies = plan::operators::aten_base_name(call.op) == "mul";
  Known made;
  made.scale = std::max(left->scale, right->scale);
  made.largest = multiplies ? left->largest * right->largest : left->largest + right->largest;
  made.unit = multiplies ? left->unit * right->unit : std::min(left->unit, right->unit);
  made.is_line = made.is_as_given = false;
  return made;
}

// Division by another whole number rounds, but not where the quotient has few digits. A product with
// the rounded inverse meets the same numbers if the inverse is off by 2^-25 of itself at most.
std::optional<double> ExactAtHalves::divisor_after(const AtenCall& call) const {
  constexpr double largest = 64;
  if (plan::operators::aten_base_name(call.op) != "div" || call.args.size() != 2 ||
      !call.kwargs.empty() || !is_as_given(call.args[0]) || exact_scale(call))
    return std::nullopt;
  const auto number = number_of(call.args[1]);
  if (!number || *number < 1 || *number > largest || *number != std::floor(*number))
    return std::nullopt;
  const auto inverse = static_cast<double>(1 / static_cast<float>(*number));
  if (std::abs(inverse * *number - 1) > std::ldexp(1.0, -25)) return std::nullopt;
  const bool is_float = std::ranges::all_of(call.outputs, [&](int output) {
    return output >= 0 &&
           task_.tensors.at(static_cast<std::size_t>(output)).dtype == DType::float32;
  });
  return is_float ? number : std::nullopt;
}

std::optional<ExactAtHalves::Known> ExactAtHalves::after(const AtenCall& call) const {
  if (plan::operators::only_arranges(call.op)) {
    std::vector<int> read;
    for (const Value& argument : call.args) append_tensors(argument, read);
    for (const int index : read)
      if (const Known* before = known(Value{TensorRef{index}})) return *before;
    return std::nullopt;
  }
  const Known* before = call.args.empty() ? nullptr : known(call.args[0]);
  if (before != nullptr)
    if (const auto scale = exact_scale(call)) {
      const double number = *number_of(call.args[1]);
      const bool divides = plan::operators::aten_base_name(call.op) == "div";
      return scaled(*before, divides ? 1 / number : number, *scale);
    }
  // 16 bits hold few products, and add() may have a third argument.
  const bool is_narrow = std::ranges::any_of(call.outputs, [&](int output) {
    return output < 0 || bytes_of(task_.tensors.at(static_cast<std::size_t>(output)).dtype) < 4;
  });
  if (is_narrow || !call.kwargs.empty()) return std::nullopt;
  if (before != nullptr)
    if (auto made = after_numbers(call, *before)) return made;
  return plan::operators::is(call.op, plan::operators::Trait::keeps_whole) ? after_tensors(call)
                                                                           : std::nullopt;
}

void ExactAtHalves::follow(const AtenCall& call) {
  auto made = after(call);
  const auto divisor = divisor_after(call);
  if (made && made->largest / made->unit > kMostUnits) made.reset();
  for (const int output : call.outputs) {
    if (output < 0) continue;
    if (made)
      known_[output] = *made;
    else
      known_.erase(output);  // it may have been changed in place
    if (divisor)
      divisors_[output] = *divisor;
    else
      divisors_.erase(output);
  }
}

}  // namespace tritonsmith::gym::plan::analysis
