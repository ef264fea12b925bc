#include "gym/trial/perturb/large_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace tritonsmith::gym::trial {
namespace {

enum class Sign { as_drawn, positive, negative };
struct RowKind {
  double factor = 1;
  Sign sign = Sign::as_drawn;
};

void change_row(const at::Tensor& row, RowKind kind) {
  if (kind.sign != Sign::as_drawn) row.abs_();
  row.mul_(kind.sign == Sign::negative ? -kind.factor : kind.factor);
}

}  // namespace

std::vector<double> factors_past(std::span<const double> bounds, std::int64_t length, double most) {
  constexpr double step = 8, beyond = 4, least = 2;
  constexpr std::size_t most_factors = 16;
  if (bounds.empty()) return {};
  const auto [low, high] = std::ranges::minmax(bounds);
  const double lowest =
      std::max(least, low / static_cast<double>(std::max<std::int64_t>(1, length)));
  std::vector<double> factors;
  for (double factor = std::exp2(std::ceil(std::log2(beyond * high)));
       factor >= lowest && factors.size() < most_factors; factor /= step)
    if (factor <= most) factors.push_back(factor);
  return factors;
}

void make_rows_large(at::Tensor& tensor, const device::pattern::LargeRows& large,
                     std::uint64_t seed) {
  if (large.factors.empty() || tensor.dim() == 0) return;
  Rng rng(seed, "large rows", 0);
  const double largest = large.factors[0];
  std::vector<RowKind> kinds = {{largest, Sign::positive}, {largest, Sign::negative}};
  for (const double factor : large.factors) kinds.push_back({factor});
  kinds.push_back({});
  const auto count = static_cast<std::int64_t>(kinds.size());
  at::Tensor rows = tensor.view({-1, tensor.size(-1)});
  if (rows.size(0) == 1) return change_row(rows, {largest});
  const auto first = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(count)));
  const auto kind_of = [&](std::int64_t nth) {
    RowKind kind = kinds[static_cast<std::size_t>((first + nth) % count)];
    const std::int64_t round = nth / count % 3;
    if (kind.sign == Sign::as_drawn && round > 0)
      kind.sign = round == 1 ? Sign::positive : Sign::negative;
    return kind;
  };
  // A reduction may take in several dimensions.
  const bool has_slices = tensor.dim() > 2 && tensor.size(0) > 1;
  const std::int64_t in_slice = has_slices ? rows.size(0) / tensor.size(0) : rows.size(0);
  for (std::int64_t slice = 0; slice * in_slice < rows.size(0); ++slice) {
    const at::Tensor own = rows.narrow(0, slice * in_slice, in_slice);
    if (has_slices && slice % 2 == 1)
      change_row(own, kind_of(slice / 2));
    else
      for (std::int64_t kind = 0; kind < std::min(count * 3, in_slice); ++kind)
        change_row(own.slice(0, kind, in_slice, count * 3), kind_of(kind));
  }
}

}  // namespace tritonsmith::gym::trial
