#include "gym/trial/perturb/bent_sizes.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <vector>

#include "base/rng.h"
#include "gym/trial/perturb/number_changes.h"

namespace tritonsmith::gym::trial {
namespace {

enum class Lean { either, above };

// A secret function of [0, 1] onto itself, which is strictly increasing. It leans to one side of the
// identity, by about a quarter of the number in the middle, and no formula of few numbers gives it.
class Curve {
 public:
  Curve(Lean lean, Rng& rng) {
    double bend = 0.45 + 0.2 * rng.uniform();
    if (lean == Lean::either && rng.below(2) == 0) bend = -bend;
    for (std::size_t k = 0; k < kParts; ++k) {
      const double middle = (static_cast<double>(k) + 0.5) / kParts;
      const double slope = (1 + bend * (1 - 2 * middle)) * (0.9 + 0.2 * rng.uniform());
      ends_[k + 1] = ends_[k] + slope;
    }
    for (double& end : ends_) end /= ends_.back();
  }

  at::Tensor of(const at::Tensor& u) const {
    const at::Tensor ends = at::tensor(ends_, at::kDouble).to(u.device());
    const at::Tensor place = u * static_cast<double>(kParts);
    const at::Tensor part = place.floor().clamp(0, kParts - 1).to(at::kLong);
    const at::Tensor from = ends.index({part}), to = ends.index({part + 1});
    return from + (place - part) * (to - from);
  }

 private:
  static constexpr std::size_t kParts = 8;
  std::vector<double> ends_ = std::vector<double>(kParts + 1, 0.0);
};

// The sizes that change, and their range. They are finite and not 0.
struct Sizes {
  at::Tensor all, chosen;  // in float64; which of them change
  double least = 0, largest = 0;
};

double largest_of(const at::Tensor& sizes, const at::Tensor& chosen) {
  return sizes.masked_fill(chosen.logical_not(), 0).max().item<double>();
}

// Scores that are hidden have a size far beyond all others, if it is no infinity.
Sizes sizes_of(const at::Tensor& tensor) {
  constexpr double least_mark = 1000, beyond_others = 64;
  Sizes sizes{.all = tensor.to(at::kDouble).abs()};
  sizes.chosen = sizes.all.isfinite().logical_and_(sizes.all.gt(0));
  sizes.largest = largest_of(sizes.all, sizes.chosen);
  const at::Tensor others = sizes.chosen.logical_and(sizes.all.lt(sizes.largest));
  const double next = largest_of(sizes.all, others);
  if (next > 0 && sizes.largest >= std::max(least_mark, beyond_others * next)) {
    sizes.chosen = others;
    sizes.largest = next;
  }
  sizes.least =
      sizes.all.masked_fill(sizes.chosen.logical_not(), sizes.largest).min().item<double>();
  return sizes;
}

bool are_whole(const Sizes& sizes) {
  return sizes.all.eq(sizes.all.floor()).logical_or_(sizes.chosen.logical_not()).all().item<bool>();
}

// Whole sizes follow the curve where there is room for it. Each stays above the one before. If that
// leaves them as they are, those from a secret place on grow.
std::vector<double> bent_whole(const std::vector<double>& sizes, Rng& rng) {
  const double least = sizes.front(), range = sizes.back() - least;
  const at::Tensor u = (at::tensor(sizes, at::kDouble) - least) / range;
  const at::Tensor curve = (Curve(Lean::above, rng).of(u) * range + least).round_().contiguous();
  const auto* first = curve.const_data_ptr<double>();
  std::vector<double> bent(first, first + curve.numel());
  for (std::size_t k = 1; k < bent.size(); ++k) bent[k] = std::max(bent[k], bent[k - 1] + 1);
  if (bent != sizes) return bent;
  const std::size_t from = 1 + rng.below(sizes.size() - 1);
  const auto more = static_cast<double>(1 + rng.below(2));
  for (std::size_t k = from; k < bent.size(); ++k) bent[k] += more;
  return bent;
}

at::Tensor bent(const Sizes& sizes, Rng& rng) {
  if (are_whole(sizes)) {
    const auto [each, which] = at::_unique(sizes.all.masked_select(sizes.chosen), true, true);
    const at::Tensor now = each.to(at::kCPU).contiguous();
    const auto* first = now.const_data_ptr<double>();
    const at::Tensor then = at::tensor(bent_whole({first, first + now.numel()}, rng), at::kDouble);
    return sizes.all.masked_scatter(sizes.chosen,
                                    then.to(sizes.all.device()).index_select(0, which));
  }
  const bool has_others = sizes.all.gt(sizes.least)
                              .logical_and_(sizes.all.lt(sizes.largest))
                              .logical_and_(sizes.chosen)
                              .any()
                              .item<bool>();
  const double from = has_others ? sizes.least : 0, range = sizes.largest - from;
  const at::Tensor u = ((sizes.all - from) / range).nan_to_num(0).clamp_(0, 1);
  return Curve(Lean::either, rng).of(u).mul_(range).add_(from).clamp_max_(sizes.largest);
}

}  // namespace

void bend_sizes(at::Tensor& tensor, std::uint64_t seed) {
  Rng rng(seed, "bent", 0);
  const Sizes sizes = sizes_of(tensor);
  if (sizes.largest == 0) return;
  at::Tensor now;
  if (sizes.least < sizes.largest)
    now = bent(sizes, rng);
  else
    now = sizes.all * (are_whole(sizes) ? whole_factor(rng) : any_factor(rng));
  tensor.copy_(at::where(sizes.chosen, now * tensor.sign(), tensor.to(at::kDouble)));
}

}  // namespace tritonsmith::gym::trial
