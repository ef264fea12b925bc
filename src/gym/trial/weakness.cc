#include "gym/trial/weakness.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gym/compare/compare.h"
#include "gym/tensors/scalar_type.h"
#include "gym/trial/other_rounding.h"

namespace tritonsmith::gym::trial {
namespace {

constexpr std::int64_t kMostElements = 1 << 26;

void append(const at::Tensor& numbers, std::vector<float>& list) {
  const at::Tensor here = numbers.to(at::kFloat).cpu();
  list.insert(list.end(), here.const_data_ptr<float>(),
              here.const_data_ptr<float>() + here.numel());
}

// Appends the errors of one output. Returns false if there are none to speak of.
bool append_errors(const at::Tensor& expected, const at::Tensor& got, const at::Tensor& exact_made,
                   const Sides& sides, OutputErrors& errors) {
  const bool may_break = !sides.config.rounding.is_usual();
  // Where PyTorch overflows, or the task writes a number of its own, the candidate must give the
  // same, and no digits are left to lose.
  at::Tensor is_number = at::isfinite(expected);
  if (const at::Tensor filled = compare::filled_elements(expected, sides.fills); filled.defined())
    is_number = is_number.logical_and(filled.logical_not());
  if (!may_break &&
      !at::allclose(got.masked_fill(is_number, 0), expected.masked_fill(is_number, 0), 0, 0, true))
    return false;
  const auto numbers = [&](const at::Tensor& tensor) {
    return tensor.masked_select(is_number).to(at::kDouble);
  };
  const at::Tensor ours = numbers(expected), theirs = numbers(got),
                   exact = exact_made.defined() ? numbers(exact_made) : ours;
  const at::Tensor from_exact = theirs - exact, from_ours = theirs - ours;
  const at::Tensor unit =
      (exact.abs() + exact.square().mean().sqrt() + std::numeric_limits<double>::min())
          .mul_(tolerance_of(sides).value);
  const at::Tensor off =
      at::where(from_exact.abs() <= from_ours.abs(), from_exact, from_ours).div_(unit);
  if (!may_break && !at::isfinite(off.to(at::kFloat)).all().item<bool>()) return false;
  append(off, errors.errors);
  append(ours / unit, errors.values);
  return true;
}

}  // namespace

std::optional<OutputErrors> errors_in_tolerances(const Sides& sides,
                                                 const tensors::TensorTable& exact) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (ours.size() != theirs.size()) return std::nullopt;
  OutputErrors errors;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &ours_made = tensors::tensor_at(sides.reference.tensors(), ours[k]),
                     &theirs_made = tensors::tensor_at(sides.candidate.tensors(), theirs[k]);
    if (!theirs_made.defined() || theirs_made.sizes() != ours_made.sizes() ||
        theirs_made.scalar_type() != ours_made.scalar_type())
      return std::nullopt;
    const at::Tensor expected = tensors::computable(ours_made),
                     got = tensors::computable(theirs_made);
    if (!expected.is_floating_point()) {
      if (sides.config.rounding.is_usual() && !at::equal(got, expected)) return std::nullopt;
      continue;
    }
    if (static_cast<std::int64_t>(errors.errors.size()) + expected.numel() > kMostElements)
      return std::nullopt;
    const at::Tensor exact_made = exact.empty() ? at::Tensor() : tensors::tensor_at(exact, ours[k]);
    if (!append_errors(expected, got, exact_made, sides, errors)) return std::nullopt;
  }
  return errors;
}

std::optional<int> lost_digits(const std::vector<float>& errors) {
  constexpr double most = 3;
  double worst = 0;
  for (const float error : errors) worst = std::max(worst, std::abs(static_cast<double>(error)));
  const double digits = std::log10(worst);
  if (digits > most) return std::nullopt;
  return std::max(1, static_cast<int>(std::lround(digits)));
}

RoundingSpread::RoundingSpread(const OutputErrors& errors)
    : errors_(errors), spread_(errors.errors.size(), 0), runs_at_(errors.errors.size()) {}

void RoundingSpread::add(const OutputErrors& rounded) {
  const std::vector<float>& before = errors_.errors;
  if (rounded.errors.size() != before.size()) return;
  ++runs_;
  for (std::size_t k = 0; k < before.size(); ++k) {
    const float change = std::abs(rounded.errors[k] - before[k]);
    if (!std::isfinite(change)) continue;
    spread_[k] = std::max(spread_[k], change / static_cast<float>(kRoundingWidths[0]));
    ++runs_at_[k].numbers;
    if (std::abs(rounded.errors[k]) <= 1) ++runs_at_[k].right;
  }
}

bool RoundingSpread::is_measured() const {
  for (std::size_t k = 0; k < runs_at_.size(); ++k)
    if (std::abs(errors_.errors[k]) > 1 && runs_at_[k].numbers < kLeastRoundings) return false;
  return runs_ >= kLeastRoundings;
}

RoundingSpread::Answer RoundingSpread::answer_for(const OutputErrors& others) const {
  if (others.errors.size() != spread_.size()) return Answer::unexplained;
  std::size_t jumps = 0;
  for (std::size_t k = 0; k < spread_.size(); ++k) {
    const float size = std::abs(others.errors[k]);
    if (size <= 1 || size <= kExplained * spread_[k]) continue;
    if (runs_at_[k].right == 0) return Answer::unexplained;
    ++jumps;
  }
  if (jumps == 0 && runs_ > 0) return Answer::explained;
  return jumps * kOneIn <= spread_.size() ? Answer::all_but_jumps : Answer::unexplained;
}

void nudge(const Nudge& by, at::Tensor& tensor) {
  if (by.form == NudgeForm::by_value) return round_to_grid(by, tensor);
  const at::ScalarType type = tensor.scalar_type();
  if (type != at::kFloat && type != at::kDouble) return;
  const double epsilon = type == at::kFloat ? std::numeric_limits<float>::epsilon()
                                            : std::numeric_limits<double>::epsilon();
  const double change = std::abs(by.units) * epsilon;
  if (by.form == NudgeForm::uniform) {
    tensor.mul_(1 - change);
    return;
  }
  constexpr double golden = 0.6180339887498949;  // its multiples repeat no pattern
  const at::Tensor fraction =
      at::arange(tensor.numel(), tensor.options().dtype(at::kDouble)).mul_(golden).frac();
  const at::Tensor is_moved = by.units > 0 ? fraction.lt(0.5) : fraction.ge(0.5);
  tensor.mul_(is_moved.to(type).mul_(-2 * change).add_(1).view(tensor.sizes()));
}

RoundingNoise::RoundingNoise(const OutputErrors& errors) : errors_(errors) {
  for (const float error : errors.errors) largest_ = std::max(largest_, std::abs(error));
}

void RoundingNoise::add(const OutputErrors& nudged) {
  constexpr float alike = 0.25F;
  constexpr float jump = 64;  // tolerances; a nudge moves what follows smoothly by one or a few
  const std::vector<float>& before = errors_.errors;
  if (nudged.errors.size() != before.size()) return;
  const bool has_values =
      nudged.values.size() == before.size() && errors_.values.size() == before.size();
  for (std::size_t k = 0; k < before.size(); ++k) {
    const float size = std::abs(before[k]);
    if (!(size > 1)) continue;
    if (has_values && std::abs(nudged.values[k] - errors_.values[k]) > jump) continue;
    const double is_other = std::abs(nudged.errors[k] - before[k]) > alike * size ? 1 : 0;
    beyond_.all += 1;
    beyond_.others += is_other;
    if (2 * size <= largest_) continue;
    large_.all += 1;
    large_.others += is_other;
  }
}

bool RoundingNoise::is_shown() const {
  constexpr double least = 0.25;
  return beyond_.all > 0 && beyond_.others >= least * beyond_.all &&
         large_.others >= least * large_.all;
}

}  // namespace tritonsmith::gym::trial
