#include "gym/plan/analysis/reduced_bounds.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "gym/plan/analysis/compared_numbers.h"
#include "gym/plan/analysis/constant_numbers.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::has_trait;
using operators::Trait;

// If all inputs become f times as large, for a large f, the value becomes f^degree times as large. For
// inputs of size 1 it is about the coefficient.
struct Growth {
  double degree = 1, coefficient = 1;
  bool is_reduced = false;

  Growth to_the(double power) const {
    return {degree * power, std::pow(coefficient, power), is_reduced};
  }
  Growth times(const Growth& other) const {
    return {degree + other.degree, coefficient * other.coefficient, is_reduced || other.is_reduced};
  }
};

class GrowthOfInputs {
 public:
  explicit GrowthOfInputs(const Plan& task) : constants_(task) {
    std::vector<int> inputs;
    for (const Value& input : task.inputs) append_tensors(input, inputs);
    for (const int input : inputs) known_[input] = {};
  }

  void follow(const AtenCall& call) {
    name_ = operators::functional_name(call.op);
    note(call);
    const auto made = after(call);
    for (const int output : call.outputs)
      if (output >= 0 && made && made->degree != 0 && std::isfinite(made->coefficient))
        known_[output] = *made;
      else if (output >= 0)
        known_.erase(output);
  }

  std::vector<double> found() {
    std::ranges::sort(found_);
    return std::move(found_);
  }

 private:
  const Growth* known(const AtenCall& call, std::size_t argument) const {
    const auto* tensor =
        argument < call.args.size() ? std::get_if<TensorRef>(&call.args[argument].data) : nullptr;
    const auto found = tensor == nullptr ? known_.end() : known_.find(tensor->index);
    return found == known_.end() ? nullptr : &found->second;
  }

  std::optional<Growth> first_known(const AtenCall& call) const {
    for (const int read : tensors_given_to(call))
      if (const auto found = known_.find(read); found != known_.end()) return found->second;
    return std::nullopt;
  }

  void note(const AtenCall& call) {
    constexpr std::size_t largest_norm = 3;
    const Growth* first = known(call, 0);
    if (name_ == "renorm" && first != nullptr && call.args.size() > largest_norm)
      return add(call.args[largest_norm], *first);
    if (!meets_numbers(call)) return;
    for (std::size_t k = 0; k < call.args.size(); ++k)
      if (const Growth* compared = known(call, k); compared != nullptr && compared->is_reduced)
        for (std::size_t other = 0; other < call.args.size(); ++other)
          if (other != k) add(call.args[other], *compared);
  }

  void add(const Value& numbers, const Growth& compared) {
    constexpr double least = 16, most = 1e9;
    for (const double number : constants_.of(numbers)) {
      const double size = std::pow(std::abs(number) / compared.coefficient, 1 / compared.degree);
      if (number != 0 && size >= least && size <= most &&
          std::ranges::find(found_, size) == found_.end())
        found_.push_back(size);
    }
  }

  std::optional<Growth> after(const AtenCall& call) const {
    if (operators::only_arranges(call.op) || operators::is(call.op, Trait::bounds) ||
        name_ == "abs" || name_ == "neg" || name_ == "relu")
      return first_known(call);
    const std::string_view base = operators::aten_base_name(call.op);
    if (has_trait(base, Trait::reduces) || name_ == "cumsum") return reduced(call);
    if (has_trait(base, Trait::matrix_product) || has_trait(base, Trait::scores) ||
        has_trait(base, Trait::vector_product) || has_trait(base, Trait::convolves))
      return product(call);
    if (const Growth* first = known(call, 0))
      if (const auto power = power_of(call)) return first->to_the(*power);
    if (name_ == "mul" || name_ == "div") return scaled(call);
    if (name_ == "add" || name_ == "sub" || name_ == "rsub" || name_ == "minimum" ||
        name_ == "maximum")
      return sum(call);
    return std::nullopt;
  }

  std::optional<Growth> reduced(const AtenCall& call) const {
    auto made = first_known(call);
    if (!made || name_ == "argmax" || name_ == "argmin") return std::nullopt;
    if (name_ == "var") made = made->to_the(2);
    made->is_reduced = true;
    return made;
  }

  // A product of an input with weights grows as the input does. The degrees of two inputs add up.
  std::optional<Growth> product(const AtenCall& call) const {
    std::optional<Growth> made;
    for (const int read : tensors_given_to(call))
      if (const auto found = known_.find(read); found != known_.end())
        made = made ? made->times(found->second) : found->second;
    if (made) made->is_reduced = true;
    return made;
  }

  std::optional<double> power_of(const AtenCall& call) const {
    if (name_ == "square") return 2;
    if (name_ == "sqrt") return 0.5;
    if (name_ == "rsqrt") return -0.5;
    if (name_ == "reciprocal") return -1;
    if (name_ != "pow" || call.args.size() < 2) return std::nullopt;
    const std::vector<double> power = constants_.of(call.args[1]);
    return power.size() == 1 ? std::optional(power[0]) : std::nullopt;
  }

  // The growth of an operand: of a number, or of a tensor of which nothing is known.
  Growth operand(const AtenCall& call, std::size_t argument) const {
    if (const Growth* found = known(call, argument)) return *found;
    const std::vector<double> numbers = constants_.of(call.args[argument]);
    return {0, numbers.size() == 1 ? std::abs(numbers[0]) : 1};
  }

  std::optional<Growth> scaled(const AtenCall& call) const {
    if (call.args.size() < 2 || !first_known(call)) return std::nullopt;
    const Growth second = operand(call, 1);
    return operand(call, 0).times(name_ == "div" ? second.to_the(-1) : second);
  }

  // The operand that grows faster decides. An epsilon beside a value that shrinks changes nothing.
  std::optional<Growth> sum(const AtenCall& call) const {
    if (call.args.size() < 2) return std::nullopt;
    const Growth *left = known(call, 0), *right = known(call, 1);
    if (left == nullptr || right == nullptr) return first_known(call);
    Growth made = left->degree >= right->degree ? *left : *right;
    made.is_reduced = left->is_reduced || right->is_reduced;
    return made;
  }

  ConstantNumbers constants_;
  std::string_view name_;  // of the call, without the underscore of its form in place
  std::map<int, Growth> known_;
  std::vector<double> found_;
};

}  // namespace

std::vector<double> reduced_bounds(const Plan& task) {
  GrowthOfInputs growth(task);
  for (const PlanStep& step : task.steps)
    if (const auto* call = std::get_if<AtenCall>(&step.action);
        call != nullptr && step.phase == Phase::forward)
      growth.follow(*call);
  return growth.found();
}

}  // namespace tritonsmith::gym::plan::analysis
