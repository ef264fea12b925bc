#include "gym/plan/analysis/cost/value_origins.h"

#include <algorithm>
#include <utility>

#include "gym/plan/analysis/cost/convolution_work.h"
#include "gym/plan/operators/operator_traits.h"

namespace tritonsmith::gym::plan::analysis {
namespace {

using operators::has_trait;
using operators::Trait;

// When so many numbers are compared with a common statistic, nearly as many products are needed
// as without it.
constexpr std::int64_t kMany = 16;

bool scales_away(const ValueStep& step) {
  return (step.name == "mul" || step.name == "pow") && has_a_zero(*step.call);
}

std::int64_t whole_number(const ValueStep& step, std::size_t argument) {
  const auto& args = step.call->args;
  const auto* number =
      argument < args.size() ? std::get_if<std::int64_t>(&args[argument].data) : nullptr;
  return number != nullptr ? *number : 0;
}

}  // namespace

ValueOrigins::ValueOrigins(const ForwardValues& values) : values_(values), origins_(values.size()) {
  for (ValueId value = 0; value < origins_.size(); ++value)
    if (values.is_drawn(value)) {
      const PlanTensor& tensor = values.facts(value);
      origins_[value] = {.drawn = true,
                         .generic = true,
                         .plain = distinct_elements(tensor) == elements_of(tensor) &&
                                  !values.is_permutation(value),
                         .leaves = {tensor.storage}};
    }
  for (const ValueStep& step : values.steps()) follow(step);
}

bool ValueOrigins::all(const ValueStep& step, bool (*property)(const ValueOrigin&)) const {
  return !step.given.empty() &&
         std::ranges::all_of(step.given, [&](ValueId value) { return property(origins_[value]); });
}

// Says whether each drawn number reaches the step through one operand only.
bool ValueOrigins::is_disjoint(const ValueStep& step) const {
  std::set<int> seen;
  for (const ValueId value : step.given)
    for (const int leaf : origins_[value].leaves)
      if (!seen.insert(leaf).second) return false;
  return true;
}

// Derives the origin of a step's result. It is generic if its numbers come from a generator, or
// are computed from such numbers, without structure that a kernel might use.
void ValueOrigins::follow(const ValueStep& step) {
  const ValueId made = step.made.front();
  if (origins_[made].drawn) return;
  ValueOrigin origin;
  for (const ValueId value : step.given)
    origin.leaves.insert(origins_[value].leaves.begin(), origins_[value].leaves.end());
  const bool is_convolution =
      step.name == "convolution" && work_of_convolution(values_.task(), *step.call);
  const bool multiplies = has_trait(step.name, Trait::matrix_product) || is_convolution;
  const bool of_a_product =
      std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].product; });
  origin.product = multiplies || (of_a_product && (has_trait(step.name, Trait::linear) ||
                                                   has_trait(step.name, Trait::rearranges)));
  const bool same_size =
      !step.given.empty() && values_.elements(step.given.front()) == values_.elements(made);
  const bool elementwise = has_trait(step.name, Trait::elementwise) && !scales_away(step);
  const bool arranges = has_trait(step.name, Trait::rearranges) && same_size;
  origin.generic = all(step, [](const ValueOrigin& of) { return of.generic; }) &&
                   (elementwise || arranges || (multiplies && !of_a_product));
  origin.plain = origin.generic && is_disjoint(step) &&
                 all(step, [](const ValueOrigin& of) { return of.plain; });
  origin.normalised = !origin.generic && normalises(step, elementwise || arranges);
  const bool reduces = is_reduction(step);
  origin.reduced = reduces || of_reduced(step);
  origin.statistic = reduces || (origin.reduced && has_trait(step.name, Trait::keeps_statistic) &&
                                 all(step, [](const ValueOrigin& of) { return of.statistic; }));
  if (reduces)  // operators such as max also return the indices
    for (const ValueId value : step.made) origins_[value] = origin;
  origins_[made] = std::move(origin);
}

bool ValueOrigins::is_reduction(const ValueStep& step) const {
  if (!has_trait(step.name, Trait::reduces) || step.given.size() != 1) return false;
  // the norm with p = 0 only counts
  if (step.name == "linalg_vector_norm" && has_a_zero(*step.call)) return false;
  const ValueOrigin& of = origins_[step.given.front()];
  return (of.plain || of.reduced) &&
         values_.elements(step.given.front()) >= 2 * values_.elements(step.made.front());
}

bool ValueOrigins::of_reduced(const ValueStep& step) const {
  const auto follows = [](const ValueOrigin& of) { return of.reduced || of.plain; };
  const bool of_one =
      std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].reduced; });
  return of_one &&
         (has_trait(step.name, Trait::keeps_statistic) ||
          has_trait(step.name, Trait::elementwise)) &&
         !scales_away(step) && is_disjoint(step) && all(step, follows);
}

bool ValueOrigins::normalises(const ValueStep& step, bool keeps_all) const {
  if (step.given.empty()) return false;
  const ValueId first = step.given.front(), made = step.made.front();
  if (values_.elements(first) != values_.elements(made)) return false;
  if (is_normalisation(step)) return origins_[first].generic;
  if (is_combination(step)) return true;
  const auto follows = [](const ValueOrigin& of) {
    return of.generic || of.normalised || of.reduced;
  };
  const bool of_one =
      std::ranges::any_of(step.given, [&](ValueId value) { return origins_[value].normalised; });
  return of_one && keeps_all && all(step, follows) && is_disjoint(step);
}

bool ValueOrigins::is_combination(const ValueStep& step) const {
  if (!has_trait(step.name, Trait::combines) || step.given.size() != 2 || scales_away(step))
    return false;
  const ValueId many = step.given[0], statistic = step.given[1];
  return origins_[many].generic && origins_[statistic].statistic &&
         values_.elements(many) >= kMany * values_.held(statistic);
}

// Returns the number of elements with which each element is normalised.
std::int64_t ValueOrigins::extent(const ValueStep& step) const {
  const PlanTensor& what = values_.facts(step.given.front());
  const auto rank = static_cast<std::int64_t>(what.shape.size());
  if (has_trait(step.name, Trait::softmax)) {
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
bool ValueOrigins::is_normalisation(const ValueStep& step) const {
  if (!has_trait(step.name, Trait::normalises) || extent(step) < kMany) return false;
  const std::size_t weight = step.name == "native_layer_norm" ? 2 : 1;
  if (weight >= step.call->args.size()) return true;
  const auto* tensor = std::get_if<TensorRef>(&step.call->args[weight].data);
  return tensor == nullptr || !values_.is_zeroed(tensor->index);
}

}  // namespace tritonsmith::gym::plan::analysis
