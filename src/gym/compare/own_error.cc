// PyTorch's own rounding error, as compare.h declares it.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "gym/compare/compare.h"

namespace tritonsmith::gym::compare {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::infinity();

at::Tensor doubles_of(const at::Tensor& tensor) {
  return tensor.resolve_neg().to(at::kDouble).contiguous();
}

struct FiniteValues {
  at::Tensor expected, exact;
};
// Returns the elements finite on both sides, or nothing if one is finite on one side only.
std::optional<FiniteValues> finite_values(const at::Tensor& reference, const at::Tensor& oracle) {
  if (!oracle.defined() || oracle.sizes() != reference.sizes()) return std::nullopt;
  const at::Tensor expected = doubles_of(reference), exact = doubles_of(oracle);
  const at::Tensor is_finite = at::isfinite(exact);
  if (!at::isfinite(expected).equal(is_finite)) return std::nullopt;
  if (is_finite.all().item<bool>()) return FiniteValues{expected, exact};
  return FiniteValues{expected.masked_select(is_finite), exact.masked_select(is_finite)};
}

}  // namespace

double own_error(const at::Tensor& reference, const at::Tensor& oracle) {
  if (!reference.is_floating_point()) return 0;
  const auto values = finite_values(reference, oracle);
  if (!values) return kUnknown;
  const auto& [expected, exact] = *values;
  if (exact.numel() == 0) return 0;
  const double size = exact.square().mean().sqrt().item<double>();
  const double error = (expected - exact).abs().max().item<double>();
  return size > 0 ? error / size : error == 0 ? 0 : kUnknown;
}

double own_error_by_element(const at::Tensor& reference, const at::Tensor& oracle) {
  constexpr std::int64_t at_once = 1 << 24;
  if (!reference.is_floating_point() || reference.numel() == 0) return 0;
  if (!oracle.defined() || oracle.sizes() != reference.sizes()) return kUnknown;
  const std::vector<at::Tensor> expected = reference.reshape({-1}).split(at_once),
                                exact = oracle.reshape({-1}).split(at_once);
  double squares = 0, count = 0, largest = 0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const auto values = finite_values(expected[k], exact[k]);
    if (!values) return kUnknown;
    squares += values->exact.square().sum().item<double>();
    count += static_cast<double>(values->exact.numel());
  }
  const double size = std::max(1.0, std::sqrt(squares / std::max(1.0, count)));
  for (std::size_t k = 0; k < exact.size(); ++k) {
    const auto values = finite_values(expected[k], exact[k]);
    if (values->exact.numel() == 0) continue;
    const at::Tensor error = (values->expected - values->exact).abs();
    largest = std::max(largest, (error / (values->exact.abs() + size)).max().item<double>());
  }
  return largest;
}

}  // namespace tritonsmith::gym::compare
