#include "gym/trial/perturb/whole_numbers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <span>
#include <vector>

#include "base/rng.h"

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
      for (std::int64_t& each : values_) each += up_to(whole_.growth);
    } else if (values_.size() == 1) {
      values_[0] = 1 + up_to(value - 2);
    } else if (std::ranges::any_of(whole_.sizes, [&](std::int64_t size) {
                 return static_cast<double>(size) == sum;
               })) {
      move_between(values_);
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

  bool is_a_size(std::int64_t number) const {
    return std::ranges::find(whole_.sizes, number) != whole_.sizes.end();
  }

  // Offsets of parts that have equal lengths, up to the end of another input. If Python holds the
  // largest length too, no part may become longer.
  void change_offsets(std::vector<std::int64_t>& steps) {
    if (values_.front() == 0 && is_a_size(values_.back()) &&
        std::ranges::find(whole_.of_python, std::ranges::max(steps)) == whole_.of_python.end())
      move_between(steps);
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
  }

  std::vector<std::int64_t> values_;
  const Whole& whole_;
  Rng rng_;
};

bool has_equal_rows(const at::Tensor& tensor) {
  return tensor.dim() > 1 && tensor.size(0) > 1 && tensor.size(-1) > 1 &&
         tensor.eq(tensor.select(0, 0)).all().item<bool>();
}

// Each row gets an order of its own, so that one row does not stand for all.
void rotate_rows(at::Tensor& tensor, std::uint64_t seed) {
  Rng rng(seed, "rows", 0);
  const auto size = static_cast<std::uint64_t>(tensor.size(-1));
  for (std::int64_t row = 1; row < tensor.size(0); ++row)
    tensor.select(0, row).copy_(
        tensor.select(0, row).roll(static_cast<std::int64_t>(1 + rng.below(size - 1)), -1));
}

}  // namespace

void change_whole_numbers(at::Tensor& tensor, const Whole& whole, std::uint64_t seed) {
  const at::Tensor now = tensor.to(at::kCPU, at::kLong).contiguous();
  const auto* first = now.const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> changed =
      WholeNumbers({first, first + now.numel()}, whole, seed).changed();
  at::Tensor then = at::from_blob(changed.data(), now.sizes(), at::kLong);
  if (has_equal_rows(then)) rotate_rows(then, seed);
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
