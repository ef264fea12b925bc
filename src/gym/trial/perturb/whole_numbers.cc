#include "gym/trial/perturb/whole_numbers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <span>
#include <vector>

#include "base/rng.h"
#include "gym/trial/perturb/input_content.h"

namespace tritonsmith::gym::trial {
namespace {

using device::pattern::Whole;

// Lengths, offsets, positions or counts, as their values tell. What is made of them is again of that
// kind, and no value lies outside the range of the former ones, for each may name an index.
class WholeNumbers {
 public:
  WholeNumbers(std::vector<std::int64_t> values, const Whole& whole, std::uint64_t seed)
      : values_(std::move(values)), whole_(whole), rng_(seed, "whole", 0) {}

  std::vector<std::int64_t> changed() {
    if (std::ranges::all_of(values_, [&](std::int64_t v) { return v == values_[0]; }))
      change_equal();
    else if (std::ranges::is_sorted(values_) && !counts_up())
      change_steps();
    else
      reverse();
    return std::move(values_);
  }

 private:
  std::uint64_t below(std::int64_t n) { return rng_.below(static_cast<std::uint64_t>(n)); }
  std::int64_t up_to(std::int64_t n) { return static_cast<std::int64_t>(below(n + 1)); }

  bool counts_up() const {
    for (std::size_t k = 1; k < values_.size(); ++k)
      if (values_[k] != values_[k - 1] + 1) return false;
    return true;
  }

  // Lengths become shorter, one excepted. Numbers of elements, whose sum is a size of another input,
  // keep their sum.
  void change_equal() {
    const std::int64_t value = values_[0];
    const double sum = static_cast<double>(value) * static_cast<double>(values_.size());
    if (value < 2) {
      if (!whole_.beside_marks)
        for (std::int64_t& each : values_) each += up_to(whole_.growth);
    } else if (values_.size() == 1) {
      values_[0] = 1 + up_to(value - 2);
    } else if (std::ranges::any_of(whole_.sizes, [&](std::int64_t size) {
                 return static_cast<double>(size) == sum;
               })) {
      if (!whole_.beside_marks) move_between(values_);
    } else {
      const std::size_t kept = below(static_cast<std::int64_t>(values_.size()));
      for (std::size_t k = 0; k < values_.size(); ++k)
        if (k != kept) values_[k] = 1 + up_to(value - 1);
    }
  }

  // Parts give to their neighbours, and none becomes 0. The sum stays.
  void move_between(std::vector<std::int64_t>& parts) {
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2) {
      if (parts[k + 1] < 2) continue;
      const std::int64_t moved = 1 + up_to(parts[k + 1] - 2);
      parts[k] += moved;
      parts[k + 1] -= moved;
    }
  }

  // The steps from each value to the next come in the opposite order. Values stay sorted, and the
  // first and the last stay. If the steps are the same in both orders, other steps replace them.
  void change_steps() {
    if (whole_.beside_marks) return;  // parts of other lengths may reach them
    std::vector<std::int64_t> steps;
    for (std::size_t k = 1; k < values_.size(); ++k) steps.push_back(values_[k] - values_[k - 1]);
    const std::vector<std::int64_t> before = steps;
    std::ranges::reverse(steps);
    if (steps == before && std::ranges::max(steps) > 1)
      change_offsets(steps);
    else if (steps == before)
      change_groups(steps);
    for (std::size_t k = 1; k < values_.size(); ++k) values_[k] = values_[k - 1] + steps[k - 1];
  }

  static bool holds(const std::vector<std::int64_t>& numbers, std::int64_t number) {
    return std::ranges::find(numbers, number) != numbers.end();
  }

  bool is_a_size(std::int64_t number) const { return holds(whole_.sizes, number); }

  // Offsets of parts that have equal lengths. If they end at the end of another input, some parts become
  // longer. Else no part between two of them does, because a candidate may know the largest length.
  // If Python or another list holds that length, the parts must have it.
  void change_offsets(std::vector<std::int64_t>& steps) {
    const std::int64_t longest = std::ranges::max(steps), end = values_.back();
    if (holds(whole_.held, longest)) return;
    if (values_.front() == 0 && is_a_size(end))
      move_between(steps);
    else if (values_.front() >= 0 && std::ranges::min(steps) > 0 && may_end_before(end, longest))
      shorten(steps);
  }

  // Parts that become shorter end elsewhere, and the last one, whose end may stand nowhere, starts
  // elsewhere. Neither may be a number to which another input, list or Python has to fit.
  bool may_end_before(std::int64_t end, std::int64_t longest) const {
    const auto is_known = [&](std::int64_t number) {
      return is_a_size(number) || holds(whole_.products, number) || holds(whole_.held, number);
    };
    return !whole_.overwrites && !whole_.beside_offsets && !is_known(end) &&
           !is_known(end + longest);
  }

  // Some parts become shorter, and all numbers stay below the last one. One part at least becomes
  // shorter, and if there are several, one stays. A power of two that divides all lengths, and is less
  // than each, still does: a kernel may rely on aligned parts.
  void shorten(std::vector<std::int64_t>& steps) {
    std::int64_t unit = 0;
    for (const std::int64_t step : steps) unit = std::gcd(unit, step);
    unit &= -unit;
    const std::int64_t longest = std::ranges::max(steps);
    if (unit == longest) unit /= 2;
    const std::size_t first = below(std::ssize(steps));
    bool is_kept = false, is_shorter = false;
    for (std::size_t k = 0; k < steps.size(); ++k) {
      std::int64_t& step = steps[(first + k) % steps.size()];
      if (step != longest) continue;
      if (!is_shorter)
        step = unit * (1 + up_to(step / unit - 2));
      else if (is_kept)
        step = unit * (1 + up_to(step / unit - 1));
      is_kept = is_kept || is_shorter;
      is_shorter = true;
    }
  }

  // The number of each element's group, in order. Groups of equal sizes get other sizes.
  void change_groups(std::vector<std::int64_t>& steps) {
    if (!is_a_size(std::ssize(values_))) return;
    std::vector<std::int64_t> sizes = {1};
    for (const std::int64_t step : steps)
      if (step == 0)
        ++sizes.back();
      else
        sizes.push_back(1);
    move_between(sizes);
    std::ranges::fill(steps, 0);
    std::int64_t end = 0;
    for (std::size_t k = 0; k + 1 < sizes.size(); ++k) {
      end += sizes[k];
      steps[static_cast<std::size_t>(end - 1)] = 1;
    }
  }

  void reverse() {
    const std::vector<std::int64_t> before = values_;
    std::ranges::reverse(values_);
    if (values_ == before) std::ranges::rotate(values_, values_.begin() + 1);
    if (!whole_.beside_marks) return;
    for (std::size_t k = 0; k < values_.size(); ++k)
      values_[k] = whole_.overwrites ? before[k] : std::min(before[k], values_[k]);
  }

  std::vector<std::int64_t> values_;
  const Whole& whole_;
  Rng rng_;
};

// Marks keep their positions, because other inputs say which positions count.
std::vector<std::int64_t> changed_between_marks(std::vector<std::int64_t> values,
                                                const Whole& whole, std::uint64_t seed) {
  std::vector<std::int64_t> others;
  std::ranges::copy_if(values, std::back_inserter(others), [](auto v) { return v >= 0; });
  others = WholeNumbers(std::move(others), whole, seed).changed();
  auto next = others.begin();
  for (std::int64_t& value : values)
    if (value >= 0) value = *next++;
  return values;
}

bool has_equal_rows(const at::Tensor& tensor) {
  return tensor.dim() > 1 && tensor.size(0) > 1 && tensor.size(-1) > 1 &&
         tensor.eq(tensor.select(0, 0)).all().item<bool>();
}

// Each row gets an order of its own, so that one row does not stand for all. Marks keep their columns.
void rotate_rows(at::Tensor& tensor, std::uint64_t seed) {
  Rng rng(seed, "rows", 0);
  const at::Tensor first = tensor.select(0, 0).reshape({-1, tensor.size(-1)});
  const at::Tensor columns = has_marks(first) ? first.ge(0).all(0).nonzero().view({-1})
                                              : at::arange(first.size(-1), at::kLong);
  const auto size = static_cast<std::uint64_t>(columns.numel());
  if (size < 2) return;
  for (std::int64_t row = 1; row < tensor.size(0); ++row) {
    const auto by = static_cast<std::int64_t>(1 + rng.below(size - 1));
    at::Tensor numbers = tensor.select(0, row);
    numbers.index_copy_(-1, columns, numbers.index_select(-1, columns).roll(by, -1));
  }
}

}  // namespace

void change_whole_numbers(at::Tensor& tensor, const Whole& whole, std::uint64_t seed) {
  const at::Tensor now = tensor.to(at::kCPU, at::kLong).contiguous();
  const auto* first = now.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> values(first, first + now.numel());
  std::vector<std::int64_t> changed = has_marks(now)
                                          ? changed_between_marks(std::move(values), whole, seed)
                                          : WholeNumbers(std::move(values), whole, seed).changed();
  at::Tensor then = at::from_blob(changed.data(), now.sizes(), at::kLong);
  if (has_equal_rows(then) && !whole.beside_marks) rotate_rows(then, seed);
  tensor.copy_(then);
}

void leave_one_out(at::Tensor& tensor, const std::vector<double>& put) {
  constexpr std::int64_t tries = 16;
  const at::Tensor some =
      tensor.view({-1})
          .index_select(
              0, at::randint(tensor.numel(), {tries}, at::dtype(at::kLong).device(tensor.device())))
          .to(at::kCPU, at::kDouble);
  const std::span<const double> drawn(some.const_data_ptr<double>(), tries);
  const auto out = std::ranges::find_if(
      drawn, [&](double number) { return std::ranges::find(put, number) == put.end(); });
  const double left_out = out == drawn.end() ? drawn[0] : *out;
  const auto other = std::ranges::find_if(drawn, [&](double each) { return each != left_out; });
  if (other != drawn.end()) tensor.masked_fill_(tensor == left_out, *other);
}

}  // namespace tritonsmith::gym::trial
