#include "gym/trial/perturb/truth_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/rng.h"

namespace tritonsmith::gym::trial {
namespace {

constexpr std::int64_t kMostRows = 512;

// The values of a trial's rows. In each four rows of one value, the element that differs is the last
// one, one in the middle, any one, and none. Each of a task's trials begins with another of these, for
// a tensor may have few rows. The only row of a whole tensor has an element that differs.
class TruthRows {
 public:
  TruthRows(const device::pattern::Truths& truths, std::uint64_t seed, std::int64_t length)
      : is_alike_(truths.is_alike),
        is_one_row_(!truths.dimension),
        variant_(truths.variant),
        length_(length),
        rng_(seed, "truths", 0) {
    if (truths.values.size() > 1) values_ = truths.values;
  }

  void fill(const at::Tensor& row, std::int64_t nth) {
    const auto count = static_cast<std::int64_t>(values_.size());
    const std::int64_t kind = is_alike_ ? 0 : (nth + variant_) % count;
    row.fill_(value(kind));
    const auto position = position_of(nth / count + first_choice());
    if (is_alike_ || !position) return;
    row.select(0, *position).fill_(value((kind + 1 + any(count - 1)) % count));
  }

 private:
  std::int64_t first_choice() const {
    constexpr auto of_rows = std::to_array<std::int64_t>({0, 3, 2, 1});
    return is_one_row_ ? variant_ / 2 * 2 : of_rows.at(static_cast<std::size_t>(variant_ % 4));
  }
  double value(std::int64_t kind) const { return values_[static_cast<std::size_t>(kind)]; }
  std::int64_t any(std::int64_t below) {
    return static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(below)));
  }
  std::optional<std::int64_t> position_of(std::int64_t choice) {
    switch (choice % 4) {
      case 0:
        return length_ - 1;
      case 1:
        return length_ / 2;
      case 2:
        return any(length_);
      default:
        return std::nullopt;
    }
  }

  bool is_alike_, is_one_row_;
  std::int64_t variant_, length_;
  Rng rng_;
  std::vector<double> values_ = {0, 1};
};

}  // namespace

void put_truths(at::Tensor& tensor, const device::pattern::Truths& truths, std::uint64_t seed) {
  constexpr std::int64_t period = 24, changed = 16;  // the others stay
  if (!truths.dimension || tensor.dim() == 0) {
    TruthRows(truths, seed, tensor.numel()).fill(tensor.view({-1}), 0);
    return;
  }
  const std::int64_t dim = at::maybe_wrap_dim(*truths.dimension, tensor.dim());
  const at::Tensor moved = tensor.movedim(dim, -1).contiguous();
  const at::Tensor rows = moved.view({-1, tensor.size(dim)});
  TruthRows values(truths, seed, tensor.size(dim));
  for (std::int64_t row = 0; row < std::min(rows.size(0), kMostRows); ++row)
    if (row % period < changed) values.fill(rows.select(0, row), row);
  tensor.movedim(dim, -1).copy_(moved);
}

std::vector<double> values_around(std::vector<double> bounds,
                                  const plan::analysis::InputDraw* whole) {
  constexpr std::size_t most = 6;
  if (whole == nullptr && bounds.empty()) return {0.5, -0.5, 1.5};
  std::ranges::sort(bounds);
  if (bounds.size() > most) bounds.resize(most);
  std::vector<double> values;
  if (whole != nullptr) values = {whole->low, whole->high};
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    const double below = k == 0 ? bounds[k] - 1 : (bounds[k - 1] + bounds[k]) / 2;
    values.insert(values.end(), {whole == nullptr ? below : std::floor(below), bounds[k]});
    if (whole != nullptr || k + 1 == bounds.size()) values.push_back(bounds[k] + 1);
  }
  if (whole != nullptr)
    std::erase_if(values, [&](double value) {
      return value < whole->low || value > whole->high || std::floor(value) != value;
    });
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

}  // namespace tritonsmith::gym::trial
