#include "gym/trial/perturb/small_rows.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace tritonsmith::gym::trial {

std::vector<double> factors_for(const std::vector<plan::analysis::Epsilon>& epsilons, double size,
                                double least) {
  constexpr std::size_t most = 6;
  constexpr double further = 0.1;  // the task may scale a draw up
  std::vector<double> sizes;
  for (const double part : {1.0, further}) {
    for (const auto& epsilon : epsilons) sizes.push_back(part * std::sqrt(epsilon.value));
    for (const auto& epsilon : epsilons)
      if (epsilon.is_of_elements) sizes.push_back(part * epsilon.value);
  }
  std::vector<double> factors;
  for (const double each : sizes)
    if (each < size && each >= least && factors.size() < most)
      factors.push_back(std::exp2(std::floor(std::log2(each / size))));
  return factors;
}

double factor_below(const std::vector<plan::analysis::Epsilon>& epsilons, std::int64_t count) {
  constexpr double least = 1e-15;  // the squares of still smaller numbers are 0 in float32
  constexpr double share = 0.25;
  double smallest = 0;
  for (const auto& epsilon : epsilons)
    if (epsilon.value >= least && (smallest == 0 || epsilon.value < smallest))
      smallest = epsilon.value;
  if (smallest == 0 || count == 0) return 1;
  const double size = share * smallest / std::sqrt(static_cast<double>(count));
  return std::exp2(std::floor(std::log2(size)));
}

device::InputChange near_epsilons(const std::vector<plan::analysis::Epsilon>& epsilons,
                                  SmallInput input) {
  // The input's square makes a norm's epsilon of 1e-5 count. In 16 bits a few thousandths do so.
  const double usual = input.is_coarse ? 1.0 / 256 : 0.05;
  device::InputChange change{.factor = input.rounds ? 1.0 / 16 : usual};
  device::pattern::SmallRows small{
      .factors = factors_for(epsilons, change.factor, input.is_coarse ? 1e-3 : 1e-15),
      .rounds = input.rounds};
  if (!input.is_first) small.beside = 1 / change.factor;
  if (input.rounds || !small.factors.empty()) change.pattern = std::move(small);
  return change;
}

void make_rows_small(at::Tensor& tensor, const device::pattern::SmallRows& small) {
  const std::vector<double>& factors = small.factors;
  constexpr std::int64_t one_in = 8;  // columns
  if (small.rounds) tensor.copy_(tensor.to(at::kBFloat16));
  if (factors.empty() || tensor.dim() == 0) return;
  const at::Tensor rows = tensor.view({-1, tensor.size(-1)});
  const auto kinds = static_cast<std::int64_t>(factors.size());
  const bool has_slices = tensor.dim() > 2 && tensor.size(0) > 1;
  const std::int64_t in_slice = has_slices ? rows.size(0) / tensor.size(0) : rows.size(0);
  const auto factor_of = [&](std::int64_t row) {
    const std::int64_t slice = row / in_slice;
    if (has_slices && slice % 2 == 1) return factors[static_cast<std::size_t>(slice / 2 % kinds)];
    if (rows.size(0) == 1) return factors[0];
    const std::int64_t kind = row % in_slice % (kinds + 1);
    if (kind == 0) return 1.0;
    if (small.beside && (kind + row / (kinds + 1)) % 2 == 0) return *small.beside;
    return factors[static_cast<std::size_t>(kind - 1)];
  };
  std::vector<double> of_rows(static_cast<std::size_t>(rows.size(0)));
  for (std::size_t row = 0; row < of_rows.size(); ++row)
    of_rows[row] = factor_of(static_cast<std::int64_t>(row));
  rows.mul_(at::tensor(of_rows, at::kDouble).to(tensor.options()).unsqueeze(1));
  for (std::int64_t nth = 0; nth < std::min(kinds, rows.size(1) / one_in); ++nth)
    rows.slice(1, nth * one_in + one_in / 2, rows.size(1), kinds * one_in)
        .mul_(factors[static_cast<std::size_t>(nth)]);
}

}  // namespace tritonsmith::gym::trial
