// Faults of numbers and flags: an epsilon left out, a slope changed, a bound that is not kept.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "gym/plan/faults/faults.h"

namespace tritonsmith::gym::plan::faults {
namespace {

// The part that a number plays in its operator.
enum class Meaning { addend, factor, epsilon, low, high, slope, exponent, other };

struct Constant {
  std::string_view family;
  std::size_t place;  // among the arguments
  Meaning meaning;
  std::string_view name;
  std::optional<double> if_absent = {};  // the default that the plan leaves out
};

constexpr auto kConstants = std::to_array<Constant>({
    {"add", 1, Meaning::addend, "the number added"},
    {"sub", 1, Meaning::addend, "the number subtracted"},
    {"rsub", 1, Meaning::addend, "the number subtracted from"},
    {"mul", 1, Meaning::factor, "the factor"},
    {"div", 1, Meaning::factor, "the divisor"},
    {"pow", 1, Meaning::exponent, "the exponent"},
    {"clamp", 1, Meaning::low, "the lower bound"},
    {"clamp", 2, Meaning::high, "the upper bound"},
    {"clamp_min", 1, Meaning::low, "the lower bound"},
    {"clamp_max", 1, Meaning::high, "the upper bound"},
    {"hardtanh", 1, Meaning::low, "the lower bound", -1},
    {"hardtanh", 2, Meaning::high, "the upper bound", 1},
    {"leaky_relu", 1, Meaning::slope, "the slope", 0.01},
    {"elu", 1, Meaning::slope, "alpha", 1},
    {"celu", 1, Meaning::slope, "alpha", 1},
    {"softplus", 1, Meaning::other, "beta", 1},
    {"threshold", 1, Meaning::other, "the threshold"},
    {"threshold", 2, Meaning::other, "the value below the threshold"},
    {"hardshrink", 1, Meaning::other, "lambda", 0.5},
    {"softshrink", 1, Meaning::other, "lambda", 0.5},
    {"masked_fill", 2, Meaning::other, "the value where the mask holds"},
    {"native_layer_norm", 4, Meaning::epsilon, "epsilon"},
    {"layer_norm", 4, Meaning::epsilon, "epsilon", 1e-5},
    {"native_group_norm", 7, Meaning::epsilon, "epsilon"},
    {"group_norm", 4, Meaning::epsilon, "epsilon", 1e-5},
    {"native_batch_norm", 6, Meaning::other, "momentum"},
    {"native_batch_norm", 7, Meaning::epsilon, "epsilon"},
    {"cudnn_batch_norm", 6, Meaning::other, "momentum"},
    {"cudnn_batch_norm", 7, Meaning::epsilon, "epsilon"},
    {"batch_norm", 6, Meaning::other, "momentum"},
    {"batch_norm", 7, Meaning::epsilon, "epsilon"},
    {"instance_norm", 7, Meaning::epsilon, "epsilon"},
    {"rms_norm", 3, Meaning::epsilon, "epsilon"},
    {"_fused_rms_norm", 3, Meaning::epsilon, "epsilon"},
    {"cosine_similarity", 2, Meaning::epsilon, "epsilon", 1e-8},
    {"smooth_l1_loss", 3, Meaning::other, "beta", 1},
    {"huber_loss", 3, Meaning::other, "delta", 1},
    {"gt", 1, Meaning::other, "the number compared with"},
    {"ge", 1, Meaning::other, "the number compared with"},
    {"lt", 1, Meaning::other, "the number compared with"},
    {"le", 1, Meaning::other, "the number compared with"},
    {"eq", 1, Meaning::other, "the number compared with"},
    {"ne", 1, Meaning::other, "the number compared with"},
    {"remainder", 1, Meaning::other, "the divisor"},
    {"fmod", 1, Meaning::other, "the divisor"},
    {"bitwise_and", 1, Meaning::other, "the mask of bits"},
    {"__rshift__", 1, Meaning::other, "the shift"},
    {"__lshift__", 1, Meaning::other, "the shift"},
    {"full", 1, Meaning::other, "the value"},
    {"full_like", 1, Meaning::other, "the value"},
    {"scalar_tensor", 0, Meaning::other, "the value"},
    {"fill", 1, Meaning::other, "the value"},
    {"tril", 1, Meaning::other, "the diagonal", 0},
    {"triu", 1, Meaning::other, "the diagonal", 0},
    {"linalg_vector_norm", 1, Meaning::exponent, "the order of the norm"},
});

struct Flag {
  std::string_view family, keyword;
  std::size_t place;
  bool if_absent;
};
constexpr auto kFlags = std::to_array<Flag>({
    {"scaled_dot_product_attention", "is_causal", 5, false},
    {"avg_pool1d", "count_include_pad", 5, true},
    {"avg_pool2d", "count_include_pad", 5, true},
    {"avg_pool3d", "count_include_pad", 5, true},
    {"native_batch_norm", "training", 5, false},
    {"cudnn_batch_norm", "training", 5, false},
    {"batch_norm", "training", 5, false},
    {"bucketize", "right", 99, false},
    {"topk", "largest", 3, true},
    {"sort", "descending", 2, false},
    {"argsort", "descending", 2, false},
});

std::optional<double> number_in(const Value& value) {
  if (const auto* real = std::get_if<double>(&value.data)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&value.data))
    return static_cast<double>(*integer);
  return std::nullopt;
}

double changed(Meaning meaning, double value) {
  switch (meaning) {
    case Meaning::epsilon:
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

  void add_number(const Constant& constant) {
    const std::vector<Value>& args = site_.call().args;
    const bool is_absent = args.size() == constant.place && constant.if_absent;
    if (args.size() <= constant.place && !is_absent) return;
    const bool is_whole = stays_whole(constant.family);
    Value given = is_absent ? number(*constant.if_absent) : args[constant.place];
    const auto value = number_in(given);
    if (!value || !std::isfinite(*value)) return;
    if (is_absent && is_whole) given = whole(std::lround(*value));
    if (const auto without = dropped(constant.meaning); without && *without != *value)
      if (!is_whole || std::abs(*without) < 1e9)
        add(fmt::format("{} {:g} left out", constant.name, *value), constant.place,
            like(given, is_whole, *without));
    const Value other = like(given, is_whole, changed(constant.meaning, *value));
    add(fmt::format("{} {:g} instead of {:g}", constant.name, *number_in(other), *value),
        constant.place, other);
  }

  void add_flag(const Flag& known) {
    const AtenCall& call = site_.call();
    constexpr std::size_t mean_at = 3;  // a norm without statistics has only one mode
    if (known.keyword == "training" && tensor_argument(site_.plan, call, mean_at) == nullptr)
      return;
    bool value = known.if_absent;
    if (call.args.size() > known.place) {
      const auto* given = std::get_if<bool>(&call.args[known.place].data);
      if (given == nullptr) return;
      value = *given;
    }
    for (const auto& [name, given] : call.kwargs)
      if (name == known.keyword && std::holds_alternative<bool>(given.data))
        value = std::get<bool>(given.data);
    add_edit(fmt::format("`{}` {} instead of {}", known.keyword, !value, value),
             [known, value](PlanEditor& editor) {
               AtenCall& changed_call = editor.call();
               if (changed_call.args.size() > known.place) {
                 changed_call.args[known.place] = flag(!value);
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

  void add(const std::string& how, std::size_t place, const Value& value) {
    add_edit(how, [place, value](PlanEditor& editor) {
      std::vector<Value>& args = editor.call().args;
      if (args.size() <= place) args.resize(place + 1);
      args[place] = value;
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
  for (const Constant& each : kConstants)
    if (each.family == family) {
      known.push_back(each.place);
      all.add_number(each);
    }
  for (const Flag& each : kFlags)
    if (each.family == family) all.add_flag(each);
  all.add_others([&](std::size_t place) {
    return std::ranges::find(known, place) != known.end() || family == "native_dropout";
  });
}

}  // namespace tritonsmith::gym::plan::faults
