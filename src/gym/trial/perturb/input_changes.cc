#include "gym/trial/perturb/input_changes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "gym/plan/analysis/listed_inputs.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/reduced_bounds.h"
#include "gym/plan/analysis/whole_inputs.h"
#include "gym/trial/perturb/input_content.h"
#include "gym/trial/perturb/large_rows.h"
#include "gym/trial/perturb/lists_beside.h"
#include "gym/trial/perturb/met_inputs.h"
#include "gym/trial/perturb/number_changes.h"
#include "gym/trial/perturb/patterns.h"
#include "gym/trial/perturb/rows.h"
#include "gym/trial/perturb/small_rows.h"

namespace tritonsmith::gym::trial {
namespace {

namespace pattern = device::pattern;
using device::InputChange;
using plan::analysis::DrawKind;
using plan::analysis::InputDraw;

// Numbers of the candidate's code beyond this are masks, and no bounds of values.
constexpr double kLargestNumber = 1e6, kLargestShift = 5000;

// Few samples of a normal distribution lie farther from 0 than this.
constexpr double kBeyondNormal = 4;

const plan::PlanTensor& tensor_of(const plan::Plan& task, int index) {
  return task.tensors.at(static_cast<std::size_t>(index));
}

bool has_16_bits(plan::DType dtype) {
  return dtype == plan::DType::float16 || dtype == plan::DType::bfloat16;
}

bool is_real(plan::DType dtype) {
  return has_16_bits(dtype) || dtype == plan::DType::float32 || dtype == plan::DType::float64;
}

bool is_coarse(plan::DType dtype) { return plan::bytes_of(dtype) < 4; }

// Any number may stand in an input that is a sum of draws, so these numbers need not follow from draws.
bool puts_numbers(Perturbation kind) {
  return kind == Perturbation::tied || kind == Perturbation::special;
}

bool has_few_neighbours(const plan::PlanTensor& tensor) {
  return is_coarse(tensor.dtype) || 2 * plan::elements_of(tensor) > kMostNeighbours;
}

bool is_drawn_within_bounds(const std::vector<InputDraw>& draws, int input) {
  return std::ranges::any_of(draws, [&](const InputDraw& draw) {
    return draw.kind == DrawKind::uniform &&
           std::ranges::find(draw.inputs, input) != draw.inputs.end();
  });
}

// An input that is not random may be sorted or hold widths, so it keeps its order and its signs. One
// factor for all elements leaves a table what a formula gives, so one trial bends it instead.
InputChange never_drawn(Perturbation kind, const at::Tensor& tensor, Rng& rng) {
  const bool is_boolean = tensor.scalar_type() == at::kBool;
  const bool thins = kind == Perturbation::sparse;
  if ((kind != Perturbation::scaled && !thins) || (is_boolean && !thins)) return {};
  const InputChange bent{.seed = rng.next_u64(), .pattern = pattern::Bent{}};
  if (tensor.is_complex()) return thins ? InputChange{.factor = any_factor(rng)} : bent;
  const bool has_one_value = holds_one_value(tensor);
  const bool is_nothing = has_one_value && !tensor.reshape({-1})[0].item().toBool();
  if (is_boolean || (thins && !has_one_value && is_mask(tensor)))
    return {.seed = rng.next_u64(), .pattern = pattern::Flips{}};
  if (has_one_value && is_nothing == thins)
    return {.seed = rng.next_u64(), .pattern = pattern::Noise{}};
  if (has_one_value || is_mask(tensor)) return {.factor = any_factor(rng)};
  if (!thins) return bent;
  return {.factor = holds_whole_values(tensor) ? whole_factor(rng) : any_factor(rng)};
}

// The bounds are sizes of elements. Float16 holds no larger ones than its limit, and none of their
// squares.
InputChange enlarged(const plan::PlanTensor& tensor, std::span<const double> bounds, Rng& rng) {
  constexpr double most = 1e12, most_in_float16 = 4096;
  if (tensor.shape.empty()) return {};
  std::vector<double> factors = factors_past(
      bounds, tensor.shape.back(), tensor.dtype == plan::DType::float16 ? most_in_float16 : most);
  if (factors.empty()) return {};
  return {.seed = rng.next_u64(), .pattern = pattern::LargeRows{std::move(factors)}};
}

// Some of the code's bounds, by which rows move.
std::vector<double> shifts_of(const CandidateNumbers& numbers, Rng& rng) {
  constexpr std::size_t most = 4;
  std::vector<double> shifts;
  for (const double number : numbers.real)
    if (std::abs(number) > kBeyondNormal && std::abs(number) <= kLargestShift)
      shifts.push_back(number);
  rng.shuffle(shifts);
  if (shifts.size() > most) shifts.resize(most);
  return shifts;
}

}  // namespace

bool InputChanges::has_bounded_input() const {
  const std::vector<InputDraw> draws = plan::analysis::input_draws(task_);
  return std::ranges::any_of(inputs_, [&](int input) {
    return plan::analysis::is_drawn_directly(task_, input) && is_drawn_within_bounds(draws, input);
  });
}

bool InputChanges::has_few_rows() const {
  constexpr std::int64_t shortest = 16;
  return !facts_.is_elementwise && std::ranges::any_of(direct_, [&](int input) {
    const plan::PlanTensor& tensor = tensor_of(task_, input);
    return !tensor.shape.empty() && tensor.shape.back() >= shortest &&
           plan::elements_of(tensor) / tensor.shape.back() < Rows::kFew;
  });
}

InputChanges::InputChanges(const plan::Plan& task, const CandidateNumbers* numbers,
                           bool within_bounds)
    : task_(task),
      numbers_(numbers),
      within_bounds_(within_bounds),
      facts_(plan::analysis::forward_facts(task)),
      epsilons_(plan::analysis::epsilons(task)),
      reduced_bounds_(plan::analysis::reduced_bounds(task)),
      inputs_(input_tensors(task)),
      scores_(inputs_of_scores(task)),
      draws_(plan::analysis::input_draws(task)) {
  for (const int input : inputs_)
    ways_.push_back(plan::analysis::is_drawn_directly(task, input) &&
                            !(within_bounds && is_drawn_within_bounds(draws_, input))
                        ? Way::directly
                        : Way::never_drawn);
  const auto position_of = [&](int input) {
    return static_cast<std::size_t>(std::ranges::find(inputs_, input) - inputs_.begin());
  };
  // A draw that is itself an input changes after the phase, and only then.
  std::erase_if(draws_, [&](const InputDraw& draw) {
    return std::ranges::any_of(
        draw.inputs, [&](int input) { return ways_[position_of(input)] == Way::directly; });
  });
  for (const InputDraw& draw : draws_)
    for (const int input : draw.inputs) ways_[position_of(input)] = Way::by_draws;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    if (ways_[k] == Way::directly) direct_.push_back(inputs_[k]);
    if (ways_[k] == Way::by_draws) unbounded_.insert(inputs_[k]);
  }
  for (const InputDraw& draw : draws_)
    if (draw.kind != DrawKind::normal || !draw.is_affine || draw.inputs.size() != 1)
      for (const int input : draw.inputs) unbounded_.erase(input);
}

bool InputChanges::is_tied_itself(int input) const {
  return unbounded_.contains(input) && is_real(tensor_of(task_, input).dtype);
}

InputChanges::Unit InputChanges::unit_of(const std::vector<int>& inputs, int nth) const {
  Unit unit{.nth = nth};
  for (const int input : inputs) {
    const plan::DType dtype = tensor_of(task_, input).dtype;
    unit.is_coarse = unit.is_coarse || is_coarse(dtype);
    unit.is_double = unit.is_double || dtype == plan::DType::float64;
  }
  return unit;
}

bool InputChanges::is_changed_by(Perturbation kind) const {
  if (kind == Perturbation::enlarged && reduced_bounds_.empty()) return false;
  Rng rng(0, "dry", 0);
  int changed = 0, nth = 0;
  const Perturbation like = kind == Perturbation::last_spiked ? Perturbation::spiked : kind;
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (ways_[k] == Way::directly &&
        direct(like, inputs_[k], unit_of({inputs_[k]}, nth++), rng).changes())
      ++changed;
  for (const int input : inputs_)
    if (puts_numbers(like) && is_tied_itself(input) &&
        direct(like, input, unit_of({input}, nth), rng).changes())
      ++changed;
  for (const InputDraw& draw : draws_)
    if (of_draw(like, draw, unit_of(draw.inputs, nth++), rng).changes()) ++changed;
  for (const int input : inputs_) changed += questions().asks(kind, input) ? 1 : 0;
  const bool is_of_several = kind == Perturbation::parted || kind == Perturbation::crossed ||
                             kind == Perturbation::last_spiked;
  return changed > (is_of_several ? 1 : 0);
}

// Rows move beyond some of its bounds, where a maximum or a sum may begin, and large elements stand
// at some of its positions.
InputChanges::OfCode InputChanges::numbers_of_code(Unit unit, Rng& rng) const {
  constexpr std::size_t most_positions = 12;
  OfCode chosen;
  if (numbers_ == nullptr) return chosen;
  std::vector<double> shifts = shifts_of(*numbers_, rng);
  if (!unit.is_coarse) chosen.shifts = std::move(shifts);
  chosen.positions = numbers_->whole;
  rng.shuffle(chosen.positions);
  if (chosen.positions.size() > most_positions) chosen.positions.resize(most_positions);
  return chosen;
}

// Changes that are alike for inputs and for draws without bounds.
InputChange InputChanges::extreme(Perturbation kind, Unit unit, Rng& rng) const {
  constexpr double beyond_exponentials = 100;  // exp(89) overflows in fp32
  constexpr double below_exponentials = -110;  // exp(-104) is 0
  constexpr double in_doubles = 800;           // exp(710) overflows in fp64
  if (alternates(kind))
    return {.shift = goes_down(kind, unit.nth) ? -kBeyondNormal : kBeyondNormal};
  switch (kind) {
    case Perturbation::shifted:
      return {.shift = unit.is_coarse ? 0 : unit.is_double ? in_doubles : beyond_exponentials};
    case Perturbation::lowered:
      return {.shift = unit.is_coarse ? 0 : unit.is_double ? -in_doubles : below_exponentials};
    case Perturbation::small:
      return near_epsilons(epsilons_,
                           {.is_coarse = unit.is_coarse,
                            .rounds = facts_.casts_to_16_bits && !unit.is_coarse && !unit.is_double,
                            .is_first = unit.nth == 0});
    case Perturbation::tiny:
      return {.factor = unit.is_coarse ? 1 : factor_below(epsilons_, facts_.reduced_whole)};
    case Perturbation::uneven:
      if (facts_.gives_indices) return {};
      [[fallthrough]];
    case Perturbation::scattered: {
      const std::uint64_t seed = rng.next_u64();
      OfCode chosen = numbers_of_code(unit, rng);
      return {.seed = seed,
              .pattern = pattern::Uneven{.reach = unit.is_double ? in_doubles : beyond_exponentials,
                                         .may_tie = kind == Perturbation::uneven,
                                         .shifts = std::move(chosen.shifts),
                                         .positions = std::move(chosen.positions)}};
    }
    case Perturbation::negated:
      return {.factor = -1};
    default:
      return {};
  }
}

InputChange InputChanges::direct(Perturbation kind, int input, Unit unit, Rng& rng) const {
  // An element that no sum takes in may be larger, beyond 16 bits and beyond bounds in the code.
  constexpr double far = 1024, far_alone = 131072, far_in_16_bits = 16, beyond = 4;
  double largest = facts_.is_elementwise ? far_alone : far;
  for (const double bound : facts_.bounds) largest = std::max(largest, beyond * std::abs(bound));
  if (numbers_ != nullptr && facts_.is_elementwise)
    for (const double number : numbers_->real)
      if (std::abs(number) <= kLargestNumber)
        largest = std::max(largest, beyond * std::abs(number));
  switch (kind) {
    case Perturbation::scaled:
      return signed_factor(rng);
    case Perturbation::sparse:
      return facts_.gives_ordered_indices ? signed_factor(rng) : sparse(rng);
    case Perturbation::ragged:
      return {.seed = rng.next_u64(),
              .pattern = pattern::Ragged{unit.is_coarse ? far_in_16_bits : largest}};
    case Perturbation::enlarged:
      return enlarged(tensor_of(task_, input), reduced_bounds_, rng);
    case Perturbation::spiked:
      if (!has_16_bits(tensor_of(task_, input).dtype)) return {};
      return spiked(plan::elements_of(tensor_of(task_, input)), rng);
    case Perturbation::last_spiked: {
      const bool decides = scores_.contains(input);
      if (!has_16_bits(tensor_of(task_, input).dtype) && (scores_.empty() || decides)) return {};
      InputChange change = spiked(plan::elements_of(tensor_of(task_, input)), rng);
      if (scores_.empty() || decides) return change;
      change.pattern =
          pattern::Ends{.reach = far, .positions = numbers_of_code(unit, rng).positions};
      return change;
    }
    case Perturbation::tied:
      return tied_input(facts_, input, rng);
    case Perturbation::close:
      if (!facts_.compares_inputs || has_few_neighbours(tensor_of(task_, input))) return {};
      return {.seed = rng.next_u64(), .pattern = pattern::Close{}};
    case Perturbation::special:
      return specials(facts_, input, numbers_of_code(unit, rng).positions, rng);
    default:
      return extreme(kind, unit, rng);
  }
}

InputChange InputChanges::of_normal(Perturbation kind, const InputDraw& draw, Unit unit,
                                    Rng& rng) const {
  // The task's next operator may grow fast, as an exponential does.
  constexpr double far = 16, not_far = 4;
  switch (kind) {
    case Perturbation::scaled:
      return signed_factor(rng);
    case Perturbation::sparse:
      return facts_.gives_ordered_indices ? signed_factor(rng) : sparse(rng);
    case Perturbation::ragged:
      return {.seed = rng.next_u64(), .pattern = pattern::Ragged{draw.is_affine ? far : not_far}};
    case Perturbation::enlarged:
      return draw.is_affine ? enlarged(tensor_of(task_, draw.tensor), reduced_bounds_, rng)
                            : InputChange{};
    case Perturbation::spiked:
    case Perturbation::last_spiked:
      if (!draw.is_affine || !has_16_bits(tensor_of(task_, draw.inputs[0]).dtype)) return {};
      return spiked(plan::elements_of(tensor_of(task_, draw.tensor)), rng);
    case Perturbation::shifted:
    case Perturbation::lowered:
      return draw.is_affine ? extreme(kind, unit, rng) : InputChange{};
    case Perturbation::small:
      if (!draw.is_affine) return {.factor = extreme(kind, unit, rng).factor};
      return extreme(kind, unit, rng);
    case Perturbation::uneven:
    case Perturbation::scattered: {
      InputChange change = extreme(kind, unit, rng);
      if (auto* uneven = std::get_if<pattern::Uneven>(&change.pattern);
          uneven != nullptr && !draw.is_affine) {
        uneven->reach = std::min(uneven->reach, kBeyondNormal);
        uneven->shifts.clear();
      }
      return change;
    }
    default:
      return extreme(kind, unit, rng);
  }
}

InputChange InputChanges::of_draw(Perturbation kind, const InputDraw& draw, Unit unit,
                                  Rng& rng) const {
  const bool makes_mask = std::ranges::any_of(draw.inputs, [&](int input) {
    return tensor_of(task_, input).dtype == plan::DType::boolean;
  });
  // A row that a mask hides whole has no softmax.
  if (makes_mask && kind == Perturbation::sparse) return {};
  const bool may_leave = draw.kind == DrawKind::uniform && !within_bounds_;
  if (draw.is_as_drawn && (draw.kind == DrawKind::normal || may_leave))
    return direct(kind, draw.inputs[0], unit, rng);
  if (kind == Perturbation::tied)
    return makes_mask || is_tied_itself(draw.inputs[0]) ? InputChange{} : tied_draw(facts_, draw);
  switch (draw.kind) {
    case DrawKind::normal:
      return of_normal(kind, draw, unit, rng);
    case DrawKind::uniform: {
      if (kind == Perturbation::tiny && draw.low <= 0 && draw.high >= 0)
        return extreme(kind, unit, rng);
      InputChange change = of_uniform(kind, draw, unit.nth, rng);
      if (auto* uneven = std::get_if<pattern::Uneven>(&change.pattern);
          uneven != nullptr && within_bounds_ && draw.is_as_drawn && kind == Perturbation::uneven)
        uneven->shifts.assign(16, draw.low);
      return change;
    }
    case DrawKind::whole:
      return of_whole(kind, draw,
                      {.draws = draws_,
                       .facts = facts_,
                       .candidate = numbers_,
                       .compared = plan::analysis::compared_numbers(task_, draw),
                       .positions = numbers_of_code(unit, rng).positions,
                       .elements = plan::elements_of(tensor_of(task_, draw.tensor))},
                      rng);
    case DrawKind::order:
      if (kind == Perturbation::sparse) return {.pattern = pattern::Sorted{}};
      return {};
    case DrawKind::other:
      if (kind == Perturbation::scaled) return {.factor = any_factor(rng)};
      return {};
  }
  return {};
}

// A candidate may read an input that forward ignores, such as offsets beside lengths. The two must
// fit each other, so none of them may change. Nothing can follow from zeros.
bool InputChanges::ignores_whole_numbers(const tensors::TensorTable& tensors) const {
  const bool is_planned = task_.unplanned.empty();
  int count = 0;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const plan::PlanTensor& input = tensor_of(task_, inputs_[k]);
    if (ways_[k] != Way::never_drawn || !plan::analysis::holds_whole_numbers(input.dtype)) continue;
    ++count;
    if (is_planned && !plan::analysis::reads_in_forward(task_, inputs_[k]) &&
        tensors.at(static_cast<std::size_t>(inputs_[k])).ne(0).any().item<bool>())
      return true;
  }
  return !is_planned && count > 1;  // no plan says what Python does with several of them
}

// Positions, lengths and offsets. If Python does more with them than a plan can hold, equal numbers
// stay, and so do those of several inputs, which may have to fit each other.
InputChange InputChanges::whole_numbers(Perturbation kind, int input,
                                        const tensors::TensorTable& tensors, Rng& rng) const {
  constexpr std::int64_t little = 3;
  const bool changes_whole = kind == Perturbation::scaled || kind == Perturbation::ragged;
  if (!changes_whole || ignores_whole_numbers(tensors)) return {};
  pattern::Whole whole;
  const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(input));
  if (!task_.unplanned.empty() && holds_one_value(tensor)) return {};
  if (plan::analysis::is_only_computed_with(task_, input))
    whole.growth = little;
  else if (const auto size = plan::analysis::indices_named_by(task_, input))
    whole.growth = std::max<std::int64_t>(0, *size - 1 - tensor.max().item<std::int64_t>());
  whole.overwrites = facts_.overwrites_at_indices;
  ListOfTask list{.task = task_, .inputs = inputs_, .input = input};
  for (std::size_t k = 0; k < inputs_.size(); ++k)
    if (ways_[k] == Way::never_drawn &&
        plan::analysis::holds_whole_numbers(tensor_of(task_, inputs_[k]).dtype))
      list.lists.push_back(inputs_[k]);
  add_others(list, tensors, whole);
  return {.seed = rng.next_u64(), .pattern = std::move(whole)};
}

std::map<std::size_t, InputChange> InputChanges::draw_changes(Perturbation kind, Rng& rng) const {
  std::map<std::size_t, InputChange> changes;
  auto nth = static_cast<int>(std::ranges::count(ways_, Way::directly));
  for (const InputDraw& draw : draws_) {
    const InputChange change = of_draw(kind, draw, unit_of(draw.inputs, nth++), rng);
    if (!change.changes()) continue;
    if (kind == Perturbation::last_spiked) changes.clear();
    changes[draw.step] = change;
  }
  return changes;
}

std::vector<InputChange> InputChanges::input_changes(Perturbation kind, Rng& rng,
                                                     const tensors::TensorTable& tensors) const {
  std::vector<InputChange> changes(inputs_.size());
  if (kind == Perturbation::plain || kind == Perturbation::heavy) return changes;
  int nth = 0;
  for (std::size_t k = 0; k < inputs_.size(); ++k) {
    const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(inputs_[k]));
    if (!is_changeable(tensor)) continue;
    InputChange change;
    if (questions().asks(kind, inputs_[k])) {
      changes[k] = questions().change(kind, inputs_[k], rng);
      continue;
    }
    const bool is_tied =
        puts_numbers(kind) && is_tied_itself(inputs_[k]) && tensor.is_non_overlapping_and_dense();
    if ((ways_[k] == Way::directly || is_tied) && !holds_whole_numbers(tensor))
      change = direct(kind, inputs_[k], unit_of({inputs_[k]}, nth++), rng);
    else if (ways_[k] == Way::never_drawn && holds_whole_numbers(tensor))
      change = whole_numbers(kind, inputs_[k], tensors, rng);
    else if (ways_[k] == Way::never_drawn && kind == Perturbation::scaled &&
             plan::analysis::is_list_in_source(task_, inputs_[k]) && tensor.is_floating_point() &&
             !holds_one_value(tensor) && !(is_mask(tensor) && hides(tensor)))
      change = {.seed = rng.next_u64(), .pattern = pattern::Listed{}};
    else if (ways_[k] == Way::never_drawn)
      change = never_drawn(kind, tensor, rng);
    else if (kind == Perturbation::tied && is_moved_draw(draws_, inputs_[k]))
      change = meeting({.facts = facts_, .inputs = inputs_, .nth = k}, tensors, rng);
    if (!change.changes()) continue;
    if (kind == Perturbation::last_spiked) std::ranges::fill(changes, InputChange{});
    changes[k] = change;
  }
  if (kind == Perturbation::special) pair_specials(changes, rng);
  return changes;
}

void change_input(const InputChange& change, at::Tensor& tensor) {
  if (!change.changes()) return;
  at::Tensor all = changeable_view(tensor);
  if (all.is_complex()) all = at::view_as_real(all);
  apply_pattern(change, all);
  if (change.kept < 1) {
    const at::Tensor mask =
        at::rand(all.sizes(), at::dtype(at::kFloat).device(all.device())).lt_(change.kept);
    if (change.rest == 0)
      all.masked_fill_(mask.logical_not(), 0);  // a product would leave zeros below 0
    else
      all.copy_(at::where(mask.to(at::kBool), all, all * change.rest));
  }
  if (change.factor != 1) all.mul_(change.factor);
  if (change.shift != 0) all.add_(change.shift);
}

void change_draw(const std::map<std::size_t, InputChange>& changes, std::size_t step,
                 const plan::Plan& task, tensors::TensorTable& tensors) {
  const auto change = changes.find(step);
  if (change == changes.end()) return;
  const auto& call = std::get<plan::AtenCall>(task.steps[step].action);
  at::Tensor& drawn = tensors::tensor_at(tensors, call.outputs[0]);
  if (drawn.defined() && drawn.numel() > 0) change_input(change->second, drawn);
}

void perturb_inputs(const plan::Plan& task, Perturbation kind, Rng& rng,
                    tensors::TensorTable& tensors) {
  const std::vector<InputChange> changes = InputChanges(task).input_changes(kind, rng, tensors);
  const std::vector<int> inputs = input_tensors(task);
  for (std::size_t k = 0; k < inputs.size(); ++k)
    change_input(changes[k], tensors::tensor_at(tensors, inputs[k]));
}

}  // namespace tritonsmith::gym::trial
