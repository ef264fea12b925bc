#include "gym/plan/analysis/roofline.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gym/plan/analysis/convolution_work.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using plan::operators::has_trait;
using plan::operators::Trait;

// When so many numbers are compared with a common statistic, nearly as many products are needed
// as without it.
constexpr std::int64_t kMany = 16;

// One content of a tensor. An in-place operator gives the tensor another one.
using ValueId = std::size_t;

struct Step {
  std::string_view name;
  const AtenCall* call = nullptr;
  std::vector<ValueId> given, made;
};

// How a value depends on numbers that a generator drew.
struct Origin {
  bool drawn = false;    // these are the generator's own numbers
  bool generic = false;  // the value has no structure that a kernel might use
  // The value is generic, and each drawn number was used once, so that nothing cancels when
  // it is reduced.
  bool plain = false;
  // The value has as many numbers as its operand and depends on each of them. It has structure: its
  // numbers may sum to one or to zero.
  bool normalised = false;
  bool reduced = false;    // a reduction over all numbers of a plain value
  bool statistic = false;  // the value is reduced and does not vanish
  bool product = false;    // the value is linear in a product
  std::set<int> leaves;    // the storages of the drawn numbers
};

// `known`: all of a value's numbers must be computed. `read`: all drawn numbers behind it must be
// read.
struct Demand {
  bool known = false, read = false;
};

// Returns a lower bound of the number of distinct elements that a tensor shows. A dimension counts
// if its stride is beyond all elements that the smaller strides reach.
std::int64_t distinct_elements(const PlanTensor& tensor) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;  // stride and size
  for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
    if (tensor.shape[d] == 0) return 0;
    if (tensor.shape[d] > 1) steps.emplace_back(tensor.stride[d], tensor.shape[d]);
  }
  std::ranges::sort(steps);
  std::int64_t reach = 0, count = 1;
  for (const auto& [stride, size] : steps) {
    if (stride <= reach) continue;
    count *= size;
    reach += (size - 1) * stride;
  }
  return count;
}

class Walk {
 public:
  explicit Walk(const Plan& task) : task_(task) {}

  LeastWork measure() {
    find_drawn();
    list_steps();
    find_outputs();
    for (const Step& step : steps_) follow(step);
    for (std::size_t k = steps_.size(); k-- > 0;) demand(steps_[k]);
    for (ValueId value = 0; value < origins_.size(); ++value)
      if (origins_[value].drawn && demands_[value].read) count_bytes(tensor_of_[value]);
    return work_;
  }

 private:
  const PlanTensor& declared(int tensor) const {
    return task_.tensors.at(static_cast<std::size_t>(tensor));
  }
  const PlanTensor& facts(ValueId value) const { return declared(tensor_of_[value]); }
  std::int64_t elements(ValueId value) const { return elements_of(facts(value)); }
  // Returns the number of elements in memory, at most. A tensor may show each of them many times.
  std::int64_t held(ValueId value) const {
    const PlanTensor& what = facts(value);
    return std::min(elements_of(what), what.storage_bytes / bytes_of(what.dtype));
  }
  ValueId current(int tensor) const { return current_[static_cast<std::size_t>(tensor)]; }
  ValueId fresh(int tensor) {
    tensor_of_.push_back(tensor);
    origins_.emplace_back();
    demands_.emplace_back();
    return tensor_of_.size() - 1;
  }

  // Counts each memory once.
  void count_bytes(int tensor) {
    const PlanTensor& what = declared(tensor);
    if (!counted_.insert(what.storage).second) return;
    work_.bytes += static_cast<double>(
        std::min(distinct_elements(what) * bytes_of(what.dtype), what.storage_bytes));
  }

  void find_outputs() {
    std::set<int> made, outside;
    for (const PlanStep& step : task_.steps)
      if (const auto* call = std::get_if<AtenCall>(&step.action))
        for (const int output : call->outputs)
          if (output >= 0)
            (step.phase == Phase::forward ? made : outside).insert(declared(output).storage);
    std::vector<int> outputs;
    append_tensors(task_.outputs, outputs);
    for (const int output : outputs) {
      demands_[current(output)].known = true;
      const int storage = declared(output).storage;
      if (made.contains(storage) && !outside.contains(storage)) count_bytes(output);
    }
  }

  // Finds the values whose memory only a random generator has written.
  void find_drawn() {
    std::set<int> random, other;
    for (const PlanStep& step : task_.steps) {
      if (step.phase == Phase::forward) continue;
      const auto* call = std::get_if<AtenCall>(&step.action);
      const std::string_view name =
          call != nullptr ? plan::operators::aten_base_name(call->op) : "";
      const bool draws = has_trait(name, Trait::fills_by_chance);
      std::vector<int> written;
      if (call != nullptr) written = call->outputs;
      if (const auto* constant = std::get_if<ConstantStep>(&step.action))
        written.push_back(constant->output);
      for (const int output : written) {
        if (output < 0) continue;
        if (draws) random.insert(declared(output).storage);
        if (!has_trait(name, Trait::leaves_drawn)) other.insert(declared(output).storage);
        if (name.starts_with("zero") || (name.starts_with("f") && has_a_zero(*call)))
          zeroed_.insert(declared(output).storage);
        if (name == "randperm") permuted_.insert(declared(output).storage);
      }
    }
    for (std::size_t k = 0; k < task_.tensors.size(); ++k) {
      const auto tensor = static_cast<int>(k);
      current_.push_back(fresh(tensor));
      const int storage = declared(tensor).storage;
      if (random.contains(storage) && !other.contains(storage))
        origins_[k] = {.drawn = true,
                       .generic = true,
                       .plain = distinct_elements(task_.tensors[k]) == elements(k) &&
                                !permuted_.contains(storage),
                       .leaves = {storage}};
    }
  }

  static std::vector<int> tensors_of(const AtenCall& call) {
    std::vector<int> tensors;
    for (const Value& value : call.args) append_tensors(value, tensors);
    for (const auto& [name, value] : call.kwargs) append_tensors(value, tensors);
    return tensors;
  }

  // Returns the given tensor that an operator writes to, if any.
  static std::optional<int> written_by(const AtenCall& call) {
    std::vector<int> tensors;
    for (const auto& [name, value] : call.kwargs)
      if (name == "out") append_tensors(value, tensors);
    if (tensors.empty() && plan::operators::writes_in_place(call.op)) tensors = tensors_of(call);
    return tensors.empty() ? std::nullopt : std::optional(tensors.front());
  }

  // Lists forward's operators on values. Each value is made once.
  void list_steps() {
    std::set<int> rewritten;
    for (const PlanStep& at : task_.steps) {
      const auto* call = std::get_if<AtenCall>(&at.action);
      if (call == nullptr || at.phase != Phase::forward) continue;
      Step step{.name = plan::operators::aten_base_name(call->op), .call = call};
      const std::vector<int> tensors = tensors_of(*call);
      for (const int tensor : tensors) step.given.push_back(current(tensor));
      if (const auto target = written_by(*call)) {
        rewritten.insert(declared(*target).storage);
        rewrite(step, *target);
        continue;
      }
      for (const int output : call->outputs) {
        if (output < 0) continue;
        // A view of drawn numbers is the same value until one of them is written.
        if (rewritten.contains(declared(output).storage) || !origins_[current(output)].drawn)
          current_[static_cast<std::size_t>(output)] = fresh(output);
        step.made.push_back(current(output));
      }
      if (!step.made.empty()) steps_.push_back(std::move(step));
    }
  }

  // Gives new values to all tensors of the target's memory. After an elementwise operator on the
  // whole memory, tensors that lie as the target does hold its result. Nothing is known of the
  // other tensors.
  void rewrite(Step& step, int target) {
    const PlanTensor& what = declared(target);
    const bool is_whole = distinct_elements(what) * bytes_of(what.dtype) == what.storage_bytes;
    const ValueId made = fresh(target);
    for (std::size_t k = 0; k < task_.tensors.size(); ++k) {
      const PlanTensor& other = task_.tensors[k];
      if (other.storage != what.storage) continue;
      const bool lies_alike = other.shape == what.shape && other.stride == what.stride &&
                              other.offset == what.offset && other.dtype == what.dtype;
      current_[k] = lies_alike ? made : fresh(static_cast<int>(k));
    }
    if (!step.name.ends_with('_')) return;
    step.name.remove_suffix(1);
    if (!is_whole || !has_trait(step.name, Trait::elementwise)) return;
    step.made = {made};
    steps_.push_back(std::move(step));
  }

  static bool has_a_zero(const AtenCall& call) {
    return std::ranges::any_of(call.args, [](const Value& value) {
      const auto* whole = std::get_if<std::int64_t>(&value.data);
      const auto* real = std::get_if<double>(&value.data);
      return (whole != nullptr && *whole == 0) || (real != nullptr && *real == 0);
    });
  }
  static bool scales_away(const Step& step) {
    return (step.name == "mul" || step.name == "pow") && has_a_zero(*step.call);
  }
  bool all(const Step& step, auto property) const {
    return !step.given.empty() && std::ranges::all_of(step.given, [&](ValueId value) {
      return property(origins_[value]);
    });
  }
  // Says whether each drawn number reaches the step through one operand only.
  bool is_disjoint(const Step& step) const {
    std::set<int> seen;
    for (const ValueId value : step.given)
      for (const int leaf : origins_[value].leaves)
        if (!seen.insert(leaf).second) return false;
    return true;
  }

  // Derives the origin of a step's result. It is generic if its numbers come from a generator, or
  // are computed from such numbers, without structure that a kernel might use.
  void follow(const Step& step) {
    const ValueId made = step.made.front();
    if (origins_[made].drawn) return;
    Origin origin;
    for (const ValueId value : step.given)
      origin.leaves.insert(origins_[value].leaves.begin(), origins_[value].leaves.end());
    const bool is_convolution =
        step.name == "convolution" && work_of_convolution(task_, *step.call);
    const bool multiplies = has_trait(step.name, Trait::matrix_product) || is_convolution;
    const bool of_a_product =
        std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].product; });
    origin.product = multiplies || (of_a_product && (has_trait(step.name, Trait::linear) ||
                                                     has_trait(step.name, Trait::rearranges)));
    const bool same_size = !step.given.empty() && elements(step.given.front()) == elements(made);
    const bool elementwise = has_trait(step.name, Trait::elementwise) && !scales_away(step);
    const bool arranges = has_trait(step.name, Trait::rearranges) && same_size;
    origin.generic = all(step, [](const Origin& of) { return of.generic; }) &&
                     (elementwise || arranges || (multiplies && !of_a_product));
    origin.plain =
        origin.generic && is_disjoint(step) && all(step, [](const Origin& of) { return of.plain; });
    origin.normalised = !origin.generic && normalises(step, elementwise || arranges);
    const bool reduces = is_reduction(step);
    origin.reduced = reduces || of_reduced(step);
    origin.statistic = reduces || (origin.reduced && has_trait(step.name, Trait::keeps_statistic) &&
                                   all(step, [](const Origin& of) { return of.statistic; }));
    if (reduces)  // operators such as max also return the places
      for (const ValueId value : step.made) origins_[value] = origin;
    origins_[made] = std::move(origin);
  }

  // Says whether the step reduces at least two numbers to each result.
  bool is_reduction(const Step& step) const {
    if (!has_trait(step.name, Trait::reduces) || step.given.size() != 1) return false;
    // the norm with p = 0 only counts
    if (step.name == "linalg_vector_norm" && has_a_zero(*step.call)) return false;
    const Origin& of = origins_[step.given.front()];
    return (of.plain || of.reduced) &&
           elements(step.given.front()) >= 2 * elements(step.made.front());
  }

  bool of_reduced(const Step& step) const {
    const auto follows = [](const Origin& of) { return of.reduced || of.plain; };
    const bool of_one =
        std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].reduced; });
    return of_one &&
           (has_trait(step.name, Trait::keeps_statistic) ||
            has_trait(step.name, Trait::elementwise)) &&
           !scales_away(step) && is_disjoint(step) && all(step, follows);
  }

  bool normalises(const Step& step, bool keeps_all) const {
    if (step.given.empty()) return false;
    const ValueId first = step.given.front(), made = step.made.front();
    if (elements(first) != elements(made)) return false;
    if (is_normalisation(step)) return origins_[first].generic;
    if (is_combination(step)) return true;
    const auto follows = [](const Origin& of) { return of.generic || of.normalised || of.reduced; };
    const bool of_one =
        std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].normalised; });
    return of_one && keeps_all && all(step, follows) && is_disjoint(step);
  }

  // Says whether the step combines many numbers with a statistic, which may be their own.
  bool is_combination(const Step& step) const {
    if (!has_trait(step.name, Trait::combines) || step.given.size() != 2 || scales_away(step))
      return false;
    const ValueId many = step.given[0], statistic = step.given[1];
    return origins_[many].generic && origins_[statistic].statistic &&
           elements(many) >= kMany * held(statistic);
  }

  std::int64_t whole_number(const Step& step, std::size_t argument) const {
    const auto& args = step.call->args;
    const auto* number =
        argument < args.size() ? std::get_if<std::int64_t>(&args[argument].data) : nullptr;
    return number != nullptr ? *number : 0;
  }

  // Returns the number of elements with which each element is normalised.
  std::int64_t extent(const Step& step) const {
    const PlanTensor& what = facts(step.given.front());
    const auto rank = static_cast<std::int64_t>(what.shape.size());
    if (step.name == "_softmax" || step.name == "_log_softmax") {
      const std::int64_t dim = whole_number(step, 1);
      const std::int64_t at = dim < 0 ? dim + rank : dim;
      return at >= 0 && at < rank ? what.shape[static_cast<std::size_t>(at)] : 0;
    }
    if (step.name == "native_layer_norm") {
      const auto* sizes =
          step.call->args.size() > 1 ? std::get_if<List>(&step.call->args[1].data) : nullptr;
      std::int64_t numbers = sizes != nullptr ? 1 : 0;
      for (std::size_t k = 0; sizes != nullptr && k < sizes->items.size(); ++k) {
        const auto* size = std::get_if<std::int64_t>(&sizes->items[k].data);
        numbers *= size != nullptr ? *size : 0;
      }
      return numbers;
    }
    if (step.name == "native_group_norm") {  // (x, weight, bias, N, C, HxW, groups, eps)
      const std::int64_t groups = whole_number(step, 6);
      return groups > 0 ? whole_number(step, 4) / groups * whole_number(step, 5) : 0;
    }
    if (step.name == "cumsum") return kMany;  // a cumulative sum of one number is that number
    return rank > 1 && what.shape[1] > 0 ? elements_of(what) / what.shape[1] : 0;
  }

  // A weight of zeros makes every result zero, so such a step does not count.
  bool is_normalisation(const Step& step) const {
    if (!has_trait(step.name, Trait::normalises) || extent(step) < kMany) return false;
    const std::size_t weight = step.name == "native_layer_norm" ? 2 : 1;
    if (weight >= step.call->args.size()) return true;
    const auto* tensor = std::get_if<TensorRef>(&step.call->args[weight].data);
    return tensor == nullptr || !zeroed_.contains(declared(tensor->index).storage);
  }

  void give(ValueId value, bool known) {
    demands_[value].read = true;
    demands_[value].known = demands_[value].known || known;
  }

  // Passes the demand for a value on to the values from which it is made.
  void demand(const Step& step) {
    Demand wanted;
    for (const ValueId value : step.made) {
      wanted.known = wanted.known || demands_[value].known;
      wanted.read = wanted.read || demands_[value].read;
    }
    const ValueId made = step.made.front();
    const Origin& origin = origins_[made];
    if (origin.drawn || !(wanted.known || wanted.read)) return;
    if (origin.generic) return demand_of_generic(step, wanted.known);
    if (origin.normalised) {
      if (!wanted.known) return;
      if (is_normalisation(step) || is_combination(step)) return give(step.given.front(), true);
    } else if (origin.reduced) {
      if (is_reduction(step)) return give(step.given.front(), false);
    } else {
      return;
    }
    for (const ValueId value : step.given)
      if (elements(value) == elements(made) || step.name == "expand") give(value, wanted.known);
  }

  // Counts the products if every number of the result must be known. Otherwise a kernel may sum the
  // operands first.
  void demand_of_generic(const Step& step, bool known) {
    if (step.name == "convolution") return demand_of_convolution(step, known);
    const bool is_product = has_trait(step.name, Trait::matrix_product);
    const ValueId made = step.made.front();
    for (const ValueId value : step.given)
      if (is_product || elements(value) == elements(made)) give(value, known);
    if (!is_product || !known || step.given.size() < 2) return;
    const PlanTensor& left = facts(step.given[step.given.size() - 2]);
    count_flops(left.dtype, 2.0 * static_cast<double>(elements(made)) *
                                static_cast<double>(left.shape.empty() ? 1 : left.shape.back()));
  }

  void count_flops(DType type, double flops) {
    work_.flops += flops;
    work_.flops_by[type] += flops;
  }

  void demand_of_convolution(const Step& step, bool known) {
    const auto work = work_of_convolution(task_, *step.call);
    if (!work) return;
    if (known) count_flops(facts(step.given[0]).dtype, work->flops);
    // the operands are input, weight, and perhaps a bias
    if (work->needs_input) give(step.given[0], known);
    if (work->needs_weight) give(step.given[1], known);
  }

  const Plan& task_;
  LeastWork work_;
  std::vector<Step> steps_;
  std::vector<int> tensor_of_;  // indexed by value, as are the next two
  std::vector<Origin> origins_;
  std::vector<Demand> demands_;
  std::vector<ValueId> current_;               // indexed by tensor
  std::set<int> counted_, zeroed_, permuted_;  // storages
};

}  // namespace

LeastWork least_work(const Plan& task) { return Walk(task).measure(); }

UnavoidableWork unavoidable(const LeastWork& work) {
  UnavoidableWork result{.bytes = work.bytes};
  for (const auto& [type, flops] : work.flops_by) result.flops[std::string(name_of(type))] = flops;
  return result;
}

}  // namespace tritonsmith::gym::plan::analysis
