#include "gym/trial/jumps.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/counted.h"
#include "base/rng.h"
#include "gym/plan/analysis/forward_facts.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/rounded_tensors.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::trial {
namespace {

// One element in so many may be wrong. More of them are no accident. One code that jumps moves a whole row of
// sums, so more of these may.
constexpr std::int64_t kOneWholeNumberIn = 64, kOneIn = 16;
// No search holds more elements than these. More are asked where the reference itself loses digits.
constexpr std::int64_t kMostAsked = 1 << 16, kMostWhereDigitsAreLost = 1 << 22;

bool are_many(const std::vector<ElementValues>& wrong) {
  return std::ranges::any_of(wrong, &ElementValues::is_many);
}

bool is_comparable(const at::Tensor& got, const at::Tensor& expected) {
  constexpr double exact_in_doubles = 9007199254740992;  // 2^53
  if (!got.defined() || !expected.defined() || got.sizes() != expected.sizes() ||
      got.scalar_type() != expected.scalar_type() || expected.is_complex())
    return false;
  return at::isFloatingType(expected.scalar_type()) || expected.element_size() < 8 ||
         expected.numel() == 0 ||
         !expected.to(at::kDouble).abs().ge(exact_in_doubles).any().item<bool>();
}

// Returns a copy of the values as flat doubles.
at::Tensor as_numbers(const at::Tensor& tensor) {
  return tensors::computable(tensor).to(at::kDouble, false, true).reshape({-1});
}

std::int64_t rows_of(const at::Tensor& tensor) {
  if (tensor.dim() == 0 || tensor.numel() == 0) return 1;
  return tensor.dim() == 1 ? tensor.numel() : tensor.numel() / tensor.size(-1);
}

// Says whether the call makes one product or sum of an input and a number.
bool is_exact_step(const plan::AtenCall& call, const std::set<int>& inputs) {
  using plan::operators::Trait;
  if (call.args.size() < 2 || !plan::operators::is(call.op, Trait::scales)) return false;
  const auto* operand = std::get_if<plan::TensorRef>(&call.args[0].data);
  return operand != nullptr && inputs.contains(operand->index) &&
         !std::holds_alternative<plan::TensorRef>(call.args[1].data);
}

// Says whether forward orders anything, or rounds or compares one product or sum of an input and a number.
bool jumps_exactly(const plan::Plan& task) {
  using plan::operators::Trait;
  std::set<int> exact;
  for (const int input : input_tensors(task)) exact.insert(input);
  const std::set<int> inputs = exact;
  for (const plan::PlanStep& step : task.steps) {
    const auto* call = std::get_if<plan::AtenCall>(&step.action);
    if (call == nullptr || step.phase != plan::Phase::forward) continue;
    if (plan::operators::is(call->op, Trait::orders)) return true;
    if (is_exact_step(*call, inputs))
      for (const int made : call->outputs) exact.insert(made);
    const auto* operand =
        call->args.empty() ? nullptr : std::get_if<plan::TensorRef>(&call->args[0].data);
    if (plan::operators::is(call->op, Trait::steps) && operand != nullptr &&
        exact.contains(operand->index))
      return true;
  }
  return false;
}

// Returns the unit of what an element of the output may be off: the smaller one of KernelBench's and of the
// budget's around the exact result.
double unit_of(const at::Tensor& expected, compare::AbsoluteUnit unit) {
  const double rms =
      at::where(expected.isfinite(), expected, 0).square().mean().sqrt().item<double>();
  const double budget = rms + compare::kToleranceRules.budget_floor;
  return unit == compare::AbsoluteUnit::one ? std::min(1.0, budget) : budget;
}

at::Tensor wrong_mask(const at::Tensor& got, const at::Tensor& expected,
                      const ElementValues& allowed) {
  const at::Tensor same = got.eq(expected).logical_or_(got.isnan().logical_and_(expected.isnan()));
  if (allowed.tolerance == 0) return same.logical_not();
  const at::Tensor near =
      (got - expected).abs().le((expected.abs() + allowed.unit) * allowed.tolerance);
  return near.logical_and_(expected.isfinite()).logical_or_(same).logical_not();
}

// Says whether the reference's own rounding reaches a quarter of the tolerance at one element in 16.
bool loses_digits(const at::Tensor& expected, const at::Tensor& exact,
                  const ElementValues& allowed) {
  constexpr double share = 0.25;
  if (!exact.defined() || exact.numel() != expected.numel() || exact.is_complex()) return false;
  const at::Tensor in_float64 = as_numbers(exact);
  const at::Tensor is_far =
      (in_float64 - expected)
          .abs()
          .gt((in_float64.abs() + allowed.unit) * (share * allowed.tolerance));
  const bool loses = is_far.sum().item<std::int64_t>() >= expected.numel() / kOneIn;
  in_float64.zero_();
  return loses;
}

bool has_a_grid(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble;
}

// Says which numbers are whole, or have few significant bits as halves and 16-bit values do.
at::Tensor looks_exact(const at::Tensor& tensor) {
  constexpr int significant = 12;
  const bool is_float = tensor.scalar_type() == at::kFloat;
  const int bits =
      is_float ? std::numeric_limits<float>::digits : std::numeric_limits<double>::digits;
  const at::Tensor rest = tensor.view(is_float ? at::kInt : at::kLong)
                              .bitwise_and((std::int64_t{1} << (bits - significant)) - 1);
  return tensor.eq(tensor.round()).logical_or_(rest.eq(0));
}

// Says which numbers have no grid: NaN, infinity, and the smallest ones, because a cell would reach across 0.
at::Tensor lacks_cell(const at::Tensor& tensor) {
  const double smallest =
      128 * (tensor.scalar_type() == at::kFloat ? double{std::numeric_limits<float>::min()}
                                                : std::numeric_limits<double>::min());
  return tensor.isfinite().logical_not().logical_or_(tensor.abs().lt(smallest));
}

// Says whether the call adds, subtracts, multiplies or divides element by element.
bool is_arithmetic(const plan::AtenCall& call) {
  constexpr std::array<std::string_view, 5> names = {"add", "sub", "rsub", "mul", "div"};
  return std::ranges::find(names, plan::operators::functional_name(call.op)) != names.end();
}

// The points of a grid. A cell holds `units` neighbouring numbers, and the round decides where cells begin
// and which number of a cell is its point. The bits of a number, as a whole number, count numbers from zero.
template <typename Bits>
class Grid {
 public:
  Grid(const Nudge& by, at::ScalarType bits_type)
      : bits_type_(bits_type), units_(static_cast<Bits>(by.units)) {
    Rng rng(0, "grid", static_cast<std::uint64_t>(by.round));
    first_ = static_cast<Bits>(rng.below(static_cast<std::uint64_t>(units_)));
    salt_ = static_cast<Bits>(rng.next_u64() >> 34U);
  }

  // Returns the points of the elements' cells. A point beyond these bounds and a whole number is
  // replaced by the next cell's point inwards. An element that has no such point stays.
  at::Tensor points(const at::Tensor& tensor, const at::Tensor& least,
                    const at::Tensor& greatest) const {
    const at::ScalarType type = tensor.scalar_type();
    const at::Tensor cell = at::div(tensor.view(bits_type_) + first_, units_, "floor");
    const auto leaves = [&](const at::Tensor& values, const at::Tensor& beyond) {
      return beyond.logical_and(values.floor().ne(tensor.floor()));
    };
    const at::Tensor values = point_of(cell).view(type);
    const at::Tensor outwards = 1 - 2 * tensor.lt(0).to(bits_type_);
    const at::Tensor up = leaves(values, values.gt(greatest)).to(bits_type_),
                     down = leaves(values, values.lt(least)).to(bits_type_);
    const at::Tensor inside = point_of(cell - (up - down) * outwards).view(type);
    const at::Tensor stays = leaves(inside, inside.gt(greatest).logical_or_(inside.lt(least)));
    return at::where(stays, tensor, inside);
  }

 private:
  at::Tensor point_of(const at::Tensor& cell) const {
    at::Tensor mixed = (cell + salt_) * static_cast<Bits>(0x2c1b3c6d);
    mixed = mixed.bitwise_xor(mixed.bitwise_right_shift(15)) * static_cast<Bits>(0x297a2d39);
    mixed = mixed.bitwise_xor(mixed.bitwise_right_shift(12));
    return cell * units_ - first_ + mixed.bitwise_and(units_ - 1);
  }

  at::ScalarType bits_type_;
  Bits units_ = 1, first_ = 0, salt_ = 0;
};

}  // namespace

bool rounding_may_decide(const TrialConfig& config) {
  if (row_of(config.kind).meets_jumps) return false;
  const plan::analysis::ForwardFacts facts = plan::analysis::forward_facts(config.task);
  // Rows that ask a truth value hold the numbers with which forward compares.
  const bool asks_truths = facts.asks_any_or_all || facts.asks_any_or_all_compared;
  return !facts.jumps_as_given && !facts.compares_inputs &&
         !(asks_truths && config.kind != Perturbation::plain) && !jumps_exactly(config.task);
}

Nudge jump_nudge(int round, bool is_fine) {
  constexpr double coarse = 64, less_coarse = 16, fine = 4;
  const double of_round = round % 3 == 2 ? less_coarse : coarse;
  return {.units = is_fine ? fine : of_round,
          .form = NudgeForm::by_value,
          .round = round,
          .leaves_steps = round % 2 == 1};
}

void round_to_grid(const Nudge& by, at::Tensor& tensor, const at::Tensor& by_chance) {
  if (!has_a_grid(tensor) || tensor.numel() == 0 ||
      at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
    return;
  const at::Tensor whole = tensor.contiguous();
  at::Tensor is_fixed = looks_exact(whole);
  if (by_chance.defined()) is_fixed = is_fixed.logical_and_(by_chance.logical_not());
  is_fixed = is_fixed.logical_or_(lacks_cell(whole));
  const at::Tensor moving = whole.masked_select(is_fixed.logical_not());
  if (moving.numel() == 0) return;
  const at::Tensor least = moving.amin(), greatest = moving.amax();
  const at::Tensor moved = tensor.scalar_type() == at::kFloat
                               ? Grid<std::int32_t>(by, at::kInt).points(whole, least, greatest)
                               : Grid<std::int64_t>(by, at::kLong).points(whole, least, greatest);
  tensor.copy_(at::where(is_fixed, whole, moved));
}

OtherRounding::OtherRounding(const plan::Plan& task, const Nudge& by)
    : task_(task),
      by_(by),
      is_kept_(task.tensors.size(), false),
      is_rounded_(plan::analysis::rounded_tensors(task)) {
  std::set<int> before;
  for (const plan::PlanParameter& parameter : task.parameters)
    before.insert(plan::analysis::storage_of(task, parameter.tensor));
  for (const int input : input_tensors(task))
    before.insert(plan::analysis::storage_of(task, input));
  for (const plan::PlanStep& step : task.steps) {
    if (step.phase == plan::Phase::forward) continue;
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action))
      for (const int index : call->outputs)
        if (index >= 0) before.insert(plan::analysis::storage_of(task, index));
  }
  for (std::size_t k = 0; k < is_kept_.size(); ++k)
    is_kept_[k] = before.contains(plan::analysis::storage_of(task, static_cast<int>(k)));
}

void OtherRounding::after_step(std::size_t step, tensors::TensorTable& tensors) const {
  const auto* call = std::get_if<plan::AtenCall>(&task_.steps.at(step).action);
  if (call == nullptr || leaves(step)) return;
  for (const int index : call->outputs) {
    if (index < 0 || !is_made(index)) continue;
    at::Tensor& made = tensors::tensor_at(tensors, index);
    if (made.defined()) round_to_grid(by_, made, exact_by_chance(*call, made, tensors));
  }
}

bool OtherRounding::leaves(std::size_t step) const {
  if (!by_.leaves_steps) return false;
  return Rng(static_cast<std::uint64_t>(by_.round), "step", step).below(2) == 0;
}

at::Tensor OtherRounding::exact_by_chance(const plan::AtenCall& call, const at::Tensor& made,
                                          const tensors::TensorTable& tensors) const {
  at::Tensor by_chance;
  if (!is_arithmetic(call)) return by_chance;
  for (const plan::Value& argument : call.args) {
    const auto* operand = std::get_if<plan::TensorRef>(&argument.data);
    if (operand == nullptr || !is_made(operand->index)) continue;
    const at::Tensor& tensor = tensors::tensor_at(tensors, operand->index);
    if (!tensor.defined() || !has_a_grid(tensor) ||
        !at::is_expandable_to(tensor.sizes(), made.sizes()))
      continue;
    const bool is_scale = tensor.numel() < made.numel();
    const at::Tensor now =
        (is_scale ? at::full_like(tensor, is_rounded_.at(static_cast<std::size_t>(operand->index)),
                                  at::kBool)
                  : looks_exact(tensor.contiguous()).logical_not_())
            .expand(made.sizes());
    by_chance = by_chance.defined() ? by_chance.logical_or(now) : now;
  }
  return by_chance;
}

bool OtherRounding::is_made(int tensor) const {
  const auto index = static_cast<std::size_t>(tensor);
  return index >= is_kept_.size() || !is_kept_[index];  // the Python reference's outputs come last
}

std::vector<at::Tensor> flat_outputs(const plan::Value& outputs,
                                     const tensors::TensorTable& tensors) {
  std::vector<int> indices;
  plan::append_tensors(outputs, indices);
  std::vector<at::Tensor> flat;
  for (const int index : indices) flat.push_back(tensors::tensor_at(tensors, index));
  return flat;
}

std::vector<ElementValues> few_wrong_elements(const std::vector<at::Tensor>& candidate,
                                              const std::vector<at::Tensor>& reference,
                                              const compare::CompareOptions& how,
                                              const std::vector<at::Tensor>& exact) {
  if (candidate.size() != reference.size()) return {};
  std::vector<ElementValues> few;
  std::int64_t all = 0;
  for (std::size_t k = 0; k < reference.size(); ++k) {
    if (!is_comparable(candidate[k], reference[k])) return {};
    if (reference[k].numel() == 0) continue;
    const at::Tensor got = as_numbers(candidate[k]), expected = as_numbers(reference[k]);
    ElementValues wrong{.output = k, .rows = rows_of(reference[k]), .numel = reference[k].numel()};
    if (reference[k].is_floating_point()) {
      wrong.tolerance = how.tolerance.value;
      wrong.unit = unit_of(expected, how.unit);
    }
    wrong.elements = wrong_mask(got, expected, wrong).nonzero().reshape({-1}).cpu();
    const std::int64_t count = wrong.elements.numel();
    all += count;
    const std::int64_t one_in = wrong.tolerance == 0 ? kOneWholeNumberIn : kOneIn;
    wrong.is_many = count > wrong.numel / one_in || all > kMostAsked;
    wrong.loses_digits = count > 0 && wrong.tolerance > 0 && k < exact.size() &&
                         loses_digits(expected, exact[k], wrong);
    expected.zero_();  // nothing expected stays in memory that a candidate may get
    if (wrong.is_many && (!wrong.loses_digits || all > kMostWhereDigitsAreLost)) return {};
    if (count == 0) continue;
    wrong.values = got.index_select(0, wrong.elements.to(got.device())).cpu();
    few.push_back(std::move(wrong));
  }
  return few;
}

std::vector<ElementValues> values_at(const std::vector<ElementValues>& elements,
                                     const std::vector<at::Tensor>& outputs) {
  std::vector<ElementValues> values;
  for (const ElementValues& each : elements) {
    if (each.output >= outputs.size() || !outputs[each.output].defined() ||
        outputs[each.output].numel() != each.numel)
      return {};
    const at::Tensor numbers = as_numbers(outputs[each.output]);
    ElementValues found = each;
    found.values = numbers.index_select(0, each.elements.to(numbers.device())).cpu();
    numbers.zero_();
    values.push_back(std::move(found));
  }
  return values;
}

void write_values(const std::vector<ElementValues>& values, const Sides& sides,
                  const tensors::TensorTable& exact) {
  std::vector<int> indices;
  plan::append_tensors(sides.task().outputs, indices);
  const OtherRounding rounding(sides.config.task, {});
  const auto write = [](const ElementValues& each, const at::Tensor& tensor) {
    if (!tensor.defined() || tensor.numel() != each.numel ||
        at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
      return;
    const at::Tensor numbers = as_numbers(tensor);
    numbers.index_copy_(0, each.elements.to(numbers.device()), each.values.to(numbers.device()));
    tensor.copy_(numbers.reshape(tensor.sizes()));
    numbers.zero_();
  };
  for (const ElementValues& each : values) {
    const int index = indices.at(each.output);
    if (!rounding.is_made(index)) continue;
    write(each, tensors::tensor_at(sides.reference.tensors(), index));
    if (!exact.empty()) write(each, tensors::tensor_at(exact, index));
  }
}

JumpSearch::JumpSearch(std::vector<ElementValues> wanted, std::vector<ElementValues> first,
                       bool is_fine)
    : is_fine_(is_fine), wanted_(std::move(wanted)), first_(std::move(first)), best_(first_) {
  for (ElementValues& each : best_) each.values = each.values.clone();
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> rows;
  for (std::size_t k = 0; k < wanted_.size() && k < first_.size(); ++k) {
    const ElementValues& each = wanted_[k];
    Groups& groups = groups_.emplace_back();
    const std::int64_t length = each.numel / each.rows;
    const auto* elements = each.elements.const_data_ptr<std::int64_t>();
    const double* values = first_[k].values.const_data_ptr<double>();
    for (std::int64_t n = 0; n < each.elements.numel(); ++n) {
      ranges_.emplace_back(values[n], values[n]);
      groups.push_back(count_);
      if (each.tolerance == 0)
        groups.back() = rows.try_emplace({each.rows, elements[n] / length}, count_).first->second;
      if (groups.back() == count_) ++count_;
      is_row_.resize(count_, each.tolerance == 0);
    }
  }
  found_.resize(count_, false);
  left_ = count_;
  rows_left_ = static_cast<std::size_t>(std::ranges::count(is_row_, true));
}

// Takes the reference's value at a wrong whole number. Says whether it is the candidate's.
bool JumpSearch::jumps(std::size_t output, std::size_t element, double now) {
  const double wanted = wanted_[output].values.const_data_ptr<double>()[element],
               first = first_[output].values.const_data_ptr<double>()[element];
  if (now != first && now != wanted) is_noise_ = true;
  return now == wanted;
}

// Takes the reference's value at a wrong floating number. Returns the value to adopt, if its range allows the
// candidate's.
std::optional<double> JumpSearch::in_range(std::size_t output, std::size_t element, double now,
                                           std::pair<double, double>& range) {
  const double wanted = wanted_[output].values.const_data_ptr<double>()[element];
  if (std::isfinite(now)) range = {std::min(range.first, now), std::max(range.second, now)};
  if (now == wanted || (std::isnan(now) && std::isnan(wanted))) return now;
  // Of thousands of elements, some lie beyond all values of a few dozen runs.
  constexpr double share = 0.25;
  const double beside = is_fine_ ? share * (range.second - range.first) : 0;
  const double nearest = std::clamp(wanted, range.first - beside, range.second + beside);
  const bool is_near = std::abs(wanted - nearest) <= wanted_[output].allowed(wanted) / 2;
  return is_near ? std::optional(nearest) : std::nullopt;
}

void JumpSearch::add(const std::vector<ElementValues>& values) {
  if (values.size() != wanted_.size() || first_.size() != wanted_.size()) return;
  ++rounds_;
  std::vector<bool> jump(count_, true);
  std::size_t at = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double* now = values[k].values.const_data_ptr<double>();
    double* best = best_[k].values.mutable_data_ptr<double>();
    for (std::size_t n = 0; n < groups_[k].size(); ++n, ++at) {
      const std::size_t group = groups_[k][n];
      if (wanted_[k].tolerance == 0) {
        if (!jumps(k, n, now[n])) jump[group] = false;
      } else if (const auto nearest = in_range(k, n, now[n], ranges_[at])) {
        if (!found_[group]) best[n] = *nearest;
      } else {
        jump[group] = false;
      }
    }
  }
  for (std::size_t group = 0; group < count_; ++group) {
    if (!jump[group] || found_[group]) continue;
    found_[group] = true;
    --left_;
    if (is_row_[group]) --rows_left_;
  }
  adopt_rows();
}

// A row of whole numbers that was found has the candidate's values.
void JumpSearch::adopt_rows() {
  for (std::size_t k = 0; k < wanted_.size(); ++k) {
    if (wanted_[k].tolerance != 0) continue;
    double* best = best_[k].values.mutable_data_ptr<double>();
    const double* wanted = wanted_[k].values.const_data_ptr<double>();
    for (std::size_t n = 0; n < groups_[k].size(); ++n)
      if (found_[groups_[k][n]]) best[n] = wanted[n];
  }
}

bool JumpSearch::is_over() const {
  if (is_noise_ || (left_ == 0 && rounds_ >= kLeastJumpRounds)) return true;
  // An error of more than a few roundings meets so many bounds that no few runs show them all.
  if (rows_left_ > 0 && rounds_ >= kWholeJumpRounds) return true;
  const bool few_found = rows_left_ > 0 ? left_ == count_ : 2 * left_ > count_;
  return few_found && rounds_ >= kRoundsWithoutJump;
}

std::vector<ElementValues> JumpSearch::adopted() const {
  return left_ == 0 && !found_.empty() && !is_noise_ ? best_ : std::vector<ElementValues>();
}

std::vector<ElementValues> search_jumps(const std::vector<ElementValues>& wanted,
                                        const std::vector<ElementValues>& first,
                                        const AskReference& ask) {
  if (wanted.empty()) return {};
  try {
    for (const bool is_fine : {false, true}) {
      if (!is_fine && are_many(wanted)) continue;
      JumpSearch search(wanted, first, is_fine);
      for (int round = 0; round < kJumpRounds && !search.is_over(); ++round) {
        const auto values = ask(jump_nudge(round, is_fine));
        if (!values) return {};
        search.add(*values);
      }
      if (auto adopted = search.adopted(); !adopted.empty()) return adopted;
      if (!search.is_noise() && !std::ranges::any_of(wanted, &ElementValues::loses_digits)) break;
    }
  } catch (const c10::OutOfMemoryError&) {
  }
  return {};
}

std::vector<ElementValues> confirmed_by_exact(const std::vector<ElementValues>& wanted,
                                              const std::vector<ElementValues>& first,
                                              const std::vector<ElementValues>& exact) {
  if (wanted.empty() || exact.empty() || are_many(wanted)) return {};
  JumpSearch search(wanted, first);
  search.add(exact);
  return search.adopted();
}

Finding jump_note(const std::vector<ElementValues>& adopted) {
  std::int64_t count = 0;
  for (const ElementValues& each : adopted) count += each.elements.numel();
  return {.rule = "reference_jumps",
          .severity = Severity::note,
          .message = fmt::format(
              "at {} of the outputs PyTorch's last bits decide about the value, and the "
              "kernel has another one that they allow",
              counted(count, "element"))};
}

}  // namespace tritonsmith::gym::trial
