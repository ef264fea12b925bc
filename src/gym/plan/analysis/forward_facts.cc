#include "gym/plan/analysis/forward_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "gym/plan/analysis/exact_at_halves.h"
#include "gym/plan/analysis/returned_order.h"
#include "gym/plan/analysis/special_values.h"
#include "gym/plan/analysis/truth_values.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::Trait;

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
  return plan::operators::is(op, Trait::elementwise) || plan::operators::is(op, Trait::casts) ||
         plan::operators::is(op, Trait::rounds);
}

bool scales(const AtenCall& call) {
  return plan::operators::is(call.op, Trait::scales) && call.args.size() > 1 &&
         (number_of(call.args[0]) || number_of(call.args[1]));
}

bool gives_indices(std::string_view op) {
  return plan::operators::is(op, Trait::gives_indices) || plan::operators::is(op, Trait::orders) ||
         (plan::operators::is(op, Trait::indices_along_dim) && op.ends_with(".dim"));
}

// PyTorch promises the first of equal values.
bool gives_first_indices(std::string_view op) {
  return gives_indices(op) && plan::operators::is(op, Trait::reduces);
}

bool promises_an_order(const AtenCall& call) {
  return gives_first_indices(call.op) || is_stable_sort(call);
}

// Ties do not matter if nothing reads the indices.
bool are_indices_read(const Plan& task, const AtenCall& call) {
  if (!plan::operators::is(call.op, Trait::indices_second) || call.outputs.size() < 2) return true;
  const int indices = call.outputs[1];
  std::vector<int> read;
  append_tensors(task.outputs, read);
  for (const PlanStep& step : task.steps)
    if (const auto* other = std::get_if<AtenCall>(&step.action);
        other != nullptr && step.phase == Phase::forward) {
      const std::vector<int> given = tensors_given_to(*other);
      read.insert(read.end(), given.begin(), given.end());
    }
  return std::ranges::find(read, indices) != read.end();
}

bool is_16_bits(DType dtype) { return dtype == DType::float16 || dtype == DType::bfloat16; }

bool casts_to_16_bits(const Plan& task, const AtenCall& call) {
  if (!plan::operators::is(call.op, Trait::casts) || call.outputs.empty()) return false;
  const auto* from = call.args.empty() ? nullptr : std::get_if<TensorRef>(&call.args[0].data);
  const auto dtype_of = [&](int index) {
    return task.tensors.at(static_cast<std::size_t>(index)).dtype;
  };
  return from != nullptr && call.outputs[0] >= 0 && dtype_of(from->index) == DType::float32 &&
         is_16_bits(dtype_of(call.outputs[0]));
}

bool overwrites_at_indices(const AtenCall& call) {
  if (!plan::operators::is(call.op, Trait::overwrites_at_indices)) return false;
  constexpr std::size_t accumulate = 3;  // of index_put and put
  return call.args.size() <= accumulate || !(call.args[accumulate] == Value{true});
}

// The tensors that hold an input's elements with all their digits, perhaps multiplied by a power of
// two.
class AsGiven {
 public:
  explicit AsGiven(const Plan& task) {
    std::vector<int> inputs;
    for (const Value& input : task.inputs) append_tensors(input, inputs);
    exact_.insert(inputs.begin(), inputs.end());
  }
  // Says whether two different elements of the input differ here, too.
  bool is_exact(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    return tensor != nullptr && exact_.contains(tensor->index);
  }
  void follow(const Plan& task, const AtenCall& call) {
    if (!plan::operators::only_arranges(call.op) && !exact_scale(call)) return;
    std::vector<int> read;
    for (const Value& argument : call.args) append_tensors(argument, read);
    const auto from =
        std::ranges::find_if(read, [&](int index) { return is_exact(Value{TensorRef{index}}); });
    if (from == read.end()) return;
    for (const int output : call.outputs)
      if (output >= 0 && keeps_digits(task, call, *from, output)) exact_.insert(output);
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

  std::set<int> exact_;
};

// The points where forward rounds, compares or looks for the first of equal values.
class Jumps {
 public:
  explicit Jumps(const Plan& task) : task_(task) {}

  void note(const AtenCall& call, const ExactAtHalves& at_halves) {
    if (call.args.empty()) return;
    for (std::size_t k = 1; k < call.args.size(); ++k)
      any_inexact_ =
          any_inexact_ || (is_floating(call.args[k]) && !at_halves.scale_of(call.args[k]));
    for (const double number : at_halves.meeting_numbers(call)) add(number);
    note_value(call.args[0], at_halves);
  }

  // The call jumps where this value alone has certain elements.
  void note_value(const Value& value, const ExactAtHalves& at_halves) {
    const auto scale = at_halves.scale_of(value);
    const bool is_as_given = at_halves.is_as_given(value);
    any_as_given_ = any_as_given_ || is_as_given;
    any_computed_ = any_computed_ || (scale && !is_as_given) || at_halves.is_quotient(value);
    any_inexact_ = any_inexact_ || (is_floating(value) && !scale && !at_halves.is_quotient(value));
    if (scale) scale_ = std::max(scale_, *scale);
  }

  // Elements that equal one of these numbers decide.
  void note_numbers(std::initializer_list<double> numbers) {
    for (const double number : numbers) add(number);
  }

  bool any_inexact() const { return any_inexact_; }

  // A jump of inexact numbers beside exact ones would decide by rounding.
  void conclude(ForwardFacts& facts) {
    constexpr double finest = 8;  // inputs of more digits make inexact products
    facts.jumps_as_given = any_as_given_ && !any_inexact_;
    facts.jumps_at_halves = any_as_given_ || (any_computed_ && !any_inexact_ && scale_ <= finest);
    facts.scale_of_jumps = scale_;
    std::vector<double> met = std::exchange(numbers_, {});
    for (const double bound : facts.bounds)
      if (any_as_given_ || has_few_digits(bound)) add(bound);
    for (const double number : met) add(number);
    if (any_as_given_) add_between();
    facts.meeting_numbers = std::move(numbers_);
  }

 private:
  // Halves do not reach the range between two numbers that lie near each other.
  void add_between() {
    constexpr double nearest_halves = 0.5;
    std::vector<double> sorted = numbers_;
    std::ranges::sort(sorted);
    for (std::size_t k = 1; k < sorted.size(); ++k)
      if (sorted[k] - sorted[k - 1] < nearest_halves) add((sorted[k] + sorted[k - 1]) / 2);
  }

  bool is_floating(const Value& value) const {
    const auto* tensor = std::get_if<TensorRef>(&value.data);
    if (tensor == nullptr) return false;
    return holds_real_numbers(task_.tensors.at(static_cast<std::size_t>(tensor->index)).dtype);
  }
  void add(double number) {
    if (std::ranges::find(numbers_, number) == numbers_.end()) numbers_.push_back(number);
  }

  const Plan& task_;
  bool any_as_given_ = false, any_computed_ = false, any_inexact_ = false;
  double scale_ = 1;
  std::vector<double> numbers_;
};

bool equals_number(const AtenCall& call, std::size_t k, double wanted) {
  return call.args.size() > k && number_of(call.args[k]) == wanted;
}

// Returns the elements of a tensor of which the call makes one number, or 0.
std::int64_t reduced_whole(const Plan& task, const AtenCall& call) {
  if (plan::operators::only_arranges(call.op) || call.args.empty() || call.outputs.empty())
    return 0;
  const auto* from = std::get_if<TensorRef>(&call.args[0].data);
  const auto elements = [&](int tensor) {
    return elements_of(task.tensors.at(static_cast<std::size_t>(tensor)));
  };
  if (from == nullptr || call.outputs[0] < 0 || elements(call.outputs[0]) != 1) return 0;
  return elements(from->index) > 1 ? elements(from->index) : 0;
}

// Operators that ask whether an element is 0.
bool asks_for_zeros(const Plan& task, const AtenCall& call) {
  const std::string_view name = plan::operators::aten_base_name(call.op);
  if (name == "_to_copy")
    return !call.outputs.empty() && call.outputs[0] >= 0 &&
           task.tensors.at(static_cast<std::size_t>(call.outputs[0])).dtype == DType::boolean;
  return plan::operators::is(call.op, Trait::asks_for_zeros) ||
         (name == "linalg_vector_norm" && equals_number(call, 1, 0));
}

// Not of complex numbers, whose size is the root of a square that underflows.
bool holds_tiny_numbers(const Plan& task, const Value& value) {
  const auto* tensor = std::get_if<TensorRef>(&value.data);
  if (tensor == nullptr) return false;
  const DType dtype = task.tensors.at(static_cast<std::size_t>(tensor->index)).dtype;
  return dtype == DType::float32 || dtype == DType::float64;
}

// Jumps of operators that do not only compare or round their first argument.
void note_other_jumps(const Plan& task, const AtenCall& call, const ExactAtHalves& at_halves,
                      Jumps& jumps) {
  constexpr double tiny = 1e-30;  // 0 to a kernel that allows for rounding
  constexpr std::size_t least = 2, largest = 3, grid = 1, mode = 2, nearest = 1;
  if (call.args.empty()) return;
  const std::string_view name = plan::operators::aten_base_name(call.op);
  if (promises_an_order(call) || name == "isin") jumps.note_value(call.args[0], at_halves);
  if (asks_for_zeros(task, call) && at_halves.is_as_given(call.args[0]) &&
      holds_tiny_numbers(task, call.args[0])) {
    jumps.note_value(call.args[0], at_halves);
    jumps.note_numbers({0, tiny, -tiny});
  }
  if (name == "histc" && call.args.size() > largest && at_halves.is_as_given(call.args[0])) {
    const auto from = number_of(call.args[least]), to = number_of(call.args[largest]);
    if (!from || !to || *from >= *to) return;
    jumps.note_value(call.args[0], at_halves);
    jumps.note_numbers({*from, *to});
  }
  if (name.starts_with("grid_sampler") && equals_number(call, mode, nearest) &&
      at_halves.is_as_given(call.args[grid]))
    jumps.note_value(call.args[grid], at_halves);
}

void note_any_or_all(const Plan& task, const AtenCall& call, const AsGiven& given,
                     const TruthValues& truths, ForwardFacts& facts) {
  if (!asks_of_all(call) || call.args.empty()) return;
  const auto* asked = std::get_if<TensorRef>(&call.args[0].data);
  if (asked == nullptr) return;
  const DType dtype = task.tensors.at(static_cast<std::size_t>(asked->index)).dtype;
  if (plan::operators::is(call.op, Trait::any_or_all) && given.is_exact(call.args[0]) &&
      (dtype == DType::boolean || dtype == DType::uint8))
    facts.asks_any_or_all = true;
  else if (truths.is_one(call.args[0]))
    facts.asks_any_or_all_compared = true;
  else
    return;
  if (call.args.size() < 2) return;
  const auto* list = std::get_if<List>(&call.args[1].data);
  const Value& dimension =
      list != nullptr && list->items.size() == 1 ? list->items[0] : call.args[1];
  if (const auto* number = std::get_if<std::int64_t>(&dimension.data))
    facts.asked_dimension = *number;
}

}  // namespace

ForwardFacts forward_facts(const Plan& task) {
  ForwardFacts facts;
  AsGiven given(task);
  TruthValues truths(task);
  Jumps jumps(task);
  ExactAtHalves at_halves(task);
  MaximumScales maxima(task);
  SpecialValues specials(task);
  for (const PlanStep& step : task.steps) {
    const auto* call = std::get_if<AtenCall>(&step.action);
    if (call == nullptr || step.phase != Phase::forward) continue;
    facts.is_elementwise = facts.is_elementwise && works_by_element(call->op);
    facts.scales = facts.scales || scales(*call);
    if (plan::operators::is(call->op, Trait::bounds)) add_bounds(*call, facts.bounds);
    if (plan::operators::is(call->op, Trait::steps) && !maxima.is_rounded_by(*call))
      jumps.note(*call, at_halves);
    facts.looks_up_numbers =
        facts.looks_up_numbers || plan::operators::aten_base_name(call->op) == "isin";
    if (!gives_indices(call->op) || are_indices_read(task, *call))
      note_other_jumps(task, *call, at_halves, jumps);
    if (gives_indices(call->op) && are_indices_read(task, *call)) {
      facts.gives_indices = true;
      if (!promises_an_order(*call)) {
        facts.gives_unordered_indices = true;
        facts.gives_ordered_indices =
            facts.gives_ordered_indices || plan::operators::is(call->op, Trait::orders);
      }
    }
    facts.reduced_whole = std::max(facts.reduced_whole, reduced_whole(task, *call));
    facts.casts_to_16_bits = facts.casts_to_16_bits || casts_to_16_bits(task, *call);
    if (!call->args.empty() && given.is_exact(call->args[0]))
      facts.compares_inputs = facts.compares_inputs || gives_indices(call->op) ||
                              (plan::operators::is(call->op, Trait::steps) &&
                               call->args.size() > 1 && given.is_exact(call->args[1]));
    facts.overwrites_at_indices = facts.overwrites_at_indices || overwrites_at_indices(*call);
    note_any_or_all(task, *call, given, truths, facts);
    given.follow(task, *call);
    truths.follow(*call);
    at_halves.follow(*call);
    maxima.follow(*call);
    specials.follow(*call);
  }
  jumps.conclude(facts);
  facts.specials = specials.numbers();
  facts.zero_signs = specials.zero_signs();
  if (!jumps.any_inexact()) facts.maximum_scales = maxima.found();
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
