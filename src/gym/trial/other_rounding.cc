#include "gym/trial/other_rounding.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include <limits>
#include <set>

#include "base/rng.h"
#include "gym/plan/analysis/random_origin.h"
#include "gym/plan/analysis/rounded_tensors.h"
#include "gym/plan/operators/operator_traits.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {
namespace {

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

bool is_arithmetic(const plan::AtenCall& call) {
  return plan::operators::has_trait(plan::operators::functional_name(call.op),
                                    plan::operators::Trait::arithmetic);
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

}  // namespace tritonsmith::gym::trial
