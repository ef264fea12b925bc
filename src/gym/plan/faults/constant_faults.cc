// Faults of numbers and flags: an epsilon left out, a slope changed, a bound that is not kept.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "gym/plan/faults/faults.h"
#include "gym/plan/operators/operator_arguments.h"

namespace tritonsmith::gym::plan::faults {
namespace {

using operators::FlagArgument;
using operators::Meaning;
using operators::NumberArgument;

std::optional<double> number_in(const Value& value) {
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*integer);
  return std::nullopt;
}

double changed(Meaning meaning, double value) {
  switch (meaning) {
    case Meaning::epsilon:
    case Meaning::batch_epsilon:
    case Meaning::divisor_epsilon:
      return value == 0 ? 1e-3 : 100 * value;
    case Meaning::exponent:
      return value + 1;
    case Meaning::low:
      return value == 0 ? -0.1 : value * (value < 0 ? 1.1 : 0.9);
    case Meaning::high:
      return value == 0 ? 0.1 : value * (value > 0 ? 1.1 : 0.9);
    default:
      return value == 0 ? 0.1 : 1.1 * value;
  }
}

std::optional<double> dropped(Meaning meaning) {
  constexpr double beyond_all = 1e30;
  switch (meaning) {
    case Meaning::addend:
    case Meaning::epsilon:
    case Meaning::batch_epsilon:
    case Meaning::divisor_epsilon:
    case Meaning::slope:
      return 0;
    case Meaning::factor:
      return 1;
    case Meaning::low:
      return -beyond_all;
    case Meaning::high:
      return beyond_all;
    case Meaning::exponent:
    case Meaning::other:
      return std::nullopt;
  }
  return std::nullopt;
}

// A whole number stays one where the operator works on whole numbers.
Value like(const Value& value, bool must_be_whole, double replacement) {
  const auto* integer = std::get_if<std::int64_t>(&value.data);
  if (integer == nullptr || !must_be_whole) return number(replacement);
  const bool is_small = std::abs(replacement - static_cast<double>(*integer)) < 1;
  return whole(is_small ? *integer + 1 : static_cast<std::int64_t>(replacement));
}

class ConstantFaults {
 public:
  ConstantFaults(const Site& site, std::vector<Fault>& faults) : site_(site), faults_(faults) {}

  void add_number(const NumberArgument& constant) {
    const std::vector<Value>& args = site_.call().args;
    const bool is_absent = args.size() == constant.position && constant.if_absent;
    if (args.size() <= constant.position && !is_absent) return;
    const bool is_whole = stays_whole(constant.name);
    Value given = is_absent ? number(*constant.if_absent) : args[constant.position];
    const auto value = number_in(given);
    if (!value || !std::isfinite(*value)) return;
    if (is_absent && is_whole) given = whole(std::lround(*value));
    if (const auto without = dropped(constant.meaning); without && *without != *value)
      if (!is_whole || std::abs(*without) < 1e9)
        add(fmt::format("{} {:g} left out", constant.title, *value), constant.position,
            like(given, is_whole, *without));
    const Value other = like(given, is_whole, changed(constant.meaning, *value));
    add(fmt::format("{} {:g} instead of {:g}", constant.title, *number_in(other), *value),
        constant.position, other);
  }

  void add_flag(const FlagArgument& known) {
    const AtenCall& call = site_.call();
    constexpr std::size_t mean_at = 3;  // a norm without statistics has only one mode
    if (known.keyword == "training" && tensor_argument(site_.plan, call, mean_at) == nullptr)
      return;
    bool value = known.if_absent;
    if (call.args.size() > known.position) {
      const auto* given = std::get_if<bool>(&call.args[known.position].data);
      if (given == nullptr) return;
      value = *given;
    }
    for (const auto& [name, given] : call.kwargs)
      if (name == known.keyword && std::holds_alternative<bool>(given.data))
        value = std::get<bool>(given.data);
    add_edit(fmt::format("`{}` {} instead of {}", known.keyword, !value, value),
             [known, value](PlanEditor& editor) {
               AtenCall& changed_call = editor.call();
               if (changed_call.args.size() > known.position) {
                 changed_call.args[known.position] = flag(!value);
                 return;
               }
               std::erase_if(changed_call.kwargs,
                             [&](const auto& each) { return each.first == known.keyword; });
               changed_call.kwargs.emplace_back(known.keyword, flag(!value));
             });
  }

  // Any other number with a fraction, and numbers among the keywords.
  void add_others(const auto& is_known) {
    const AtenCall& call = site_.call();
    for (std::size_t k = 0; k < call.args.size(); ++k) {
      const auto* value = std::get_if<double>(&call.args[k].data);
      if (value == nullptr || !std::isfinite(*value) || is_known(k)) continue;
      add(fmt::format("{:g} instead of {:g}", changed(Meaning::other, *value), *value), k,
          number(changed(Meaning::other, *value)));
    }
    for (std::size_t k = 0; k < call.kwargs.size(); ++k) {
      const auto& [name, given] = call.kwargs[k];
      const auto value = number_in(given);
      if (!value || !std::isfinite(*value)) continue;
      const bool is_whole = name == "correction" || name == "dim";
      if (name == "dim") continue;
      const double other = is_whole ? (*value == 0 ? 1 : 0) : changed(Meaning::other, *value);
      add_edit(fmt::format("`{}` {:g} instead of {:g}", name, other, *value),
               [k, other, given](PlanEditor& editor) {
                 editor.call().kwargs[k].second =
                     std::holds_alternative<double>(given.data)
                         ? number(other)
                         : whole(static_cast<std::int64_t>(std::lround(other)));
               });
    }
  }

 private:
  bool stays_whole(std::string_view family) const {
    if (family == "tril" || family == "triu") return true;
    const AtenCall& call = site_.call();
    const PlanTensor* argument = tensor_argument(site_.plan, call, 0);
    if (argument == nullptr)
      argument = &site_.plan.tensors.at(static_cast<std::size_t>(call.outputs[0]));
    return !is_floating(argument->dtype);
  }

  void add(const std::string& how, std::size_t position, const Value& value) {
    add_edit(how, [position, value](PlanEditor& editor) {
      std::vector<Value>& args = editor.call().args;
      if (args.size() <= position) args.resize(position + 1);
      args[position] = value;
    });
  }

  void add_edit(const std::string& how, std::function<void(PlanEditor&)> edit) {
    faults_.push_back({.kind = FaultKind::constant,
                       .what = fmt::format("{}: {}", site_.where, how),
                       .step = site_.step,
                       .edit = std::move(edit)});
  }

  const Site& site_;
  std::vector<Fault>& faults_;
};

}  // namespace

void add_constant_faults(const Site& site, std::vector<Fault>& faults) {
  const std::string_view family = family_of(site.call());
  ConstantFaults all(site, faults);
  std::vector<std::size_t> known;
  for (const NumberArgument& each : operators::number_arguments())
    if (each.name == family) {
      known.push_back(each.position);
      all.add_number(each);
    }
  for (const FlagArgument& each : operators::flag_arguments())
    if (each.name == family) all.add_flag(each);
  all.add_others([&](std::size_t position) {
    return std::ranges::find(known, position) != known.end() || family == "native_dropout";
  });
}

}  // namespace tritonsmith::gym::plan::faults
