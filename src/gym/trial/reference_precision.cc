#include "gym/trial/reference_precision.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gym/compare/compare.h"
#include "gym/tensors/scalar_type.h"

namespace tritonsmith::gym::trial {
namespace {

// Whole numbers have no rounding, so that such a task needs no float64 result.
bool computes_in_whole_numbers(const plan::Plan& task) {
  return task.unplanned.empty() &&
         std::ranges::all_of(task.tensors, [](const plan::PlanTensor& tensor) {
           return c10::isIntegralType(tensors::scalar_type_of(tensor.dtype), true);
         });
}

}  // namespace

void measure_reference(const Sides& sides, const tensors::TensorTable& exact_table,
                       TrialResult& result) {
  constexpr std::int64_t few = 1 << 20;
  compare::DeviceComparison* device = sides.device.comparison();
  const bool is_whole = computes_in_whole_numbers(sides.config.task);
  result.is_exact_known = is_whole || !exact_table.empty();
  double largest = result.is_exact_known ? 0 : std::numeric_limits<double>::infinity();
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  for (const int index : outputs) {
    at::Tensor output = tensors::tensor_at(sides.reference.tensors(), index);
    if (!output.is_floating_point()) continue;
    at::Tensor exact =
        exact_table.empty() ? at::Tensor() : exact_table.at(static_cast<std::size_t>(index));
    if (const at::Tensor filled = compare::filled_elements(output, sides.fills);
        filled.defined() && exact.defined()) {
      output = output.masked_fill(filled, 0);
      exact = exact.masked_fill(filled, 0);
    }
    if (is_spiked(sides.config.kind) || may_widen(sides) ||
        (is_extreme(sides.config.kind) && output.element_size() < 4)) {
      result.reference_is_finite = result.reference_is_finite &&
                                   at::isfinite(tensors::computable(output)).all().item<bool>();
      largest = std::max(largest, compare::own_error_by_element(output, exact));
      continue;
    }
    if (device != nullptr && exact.defined() && exact.sizes() == output.sizes()) {
      const compare::ReferenceQuality quality = device->measure(output, exact);
      result.reference_is_finite = result.reference_is_finite && quality.is_finite;
      largest = std::max(largest, quality.own_error);
      continue;
    }
    result.reference_is_finite =
        result.reference_is_finite && at::isfinite(tensors::computable(output)).all().item<bool>();
    if (is_extreme(sides.config.kind) || output.numel() <= few)
      largest = std::max(largest, compare::own_error(output, exact));
  }
  if (!result.reference_is_finite)
    result.reference_is_partly_finite = std::ranges::all_of(outputs, [&](int index) {
      constexpr double part = 0.25;
      const at::Tensor& output = tensors::tensor_at(sides.reference.tensors(), index);
      return !output.is_floating_point() || output.numel() == 0 ||
             at::isfinite(tensors::computable(output)).to(at::kFloat).mean().item<double>() >= part;
    });
  // Whole numbers have a tolerance of 0, and an error of 0.
  result.reference_error = largest > 0 ? largest / tolerance_of(sides).value : 0;
}

bool breaks_down(const Sides& sides, const tensors::TensorTable& exact_table) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (exact_table.empty() || ours.size() != theirs.size()) return false;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &expected = tensors::tensor_at(sides.reference.tensors(), ours[k]),
                     &exact = tensors::tensor_at(exact_table, ours[k]),
                     &got = tensors::tensor_at(sides.candidate.tensors(), theirs[k]);
    if (!expected.is_floating_point() || !got.defined() || got.sizes() != expected.sizes() ||
        !exact.defined() || exact.sizes() != expected.sizes())
      continue;
    constexpr double far_below = 1.0 / 64;
    const double most = far_below * (expected.scalar_type() == at::kHalf ? 65504.0 : 1e38);
    const at::Tensor is_number = at::isfinite(tensors::computable(expected))
                                     .logical_and_(tensors::computable(exact).abs() < most);
    if (at::isfinite(tensors::computable(got))
            .logical_not_()
            .logical_and_(is_number)
            .any()
            .item<bool>())
      return true;
  }
  return false;
}

bool is_large(const Sides& sides) {
  constexpr double root_of_largest = 1.8e19;  // of the largest float32
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  return std::ranges::any_of(outputs, [&](int index) {
    const at::Tensor& output = tensors::tensor_at(sides.reference.tensors(), index);
    return output.is_floating_point() &&
           (tensors::computable(output).abs() > root_of_largest).any().item<bool>();
  });
}

void find_wrong_exact_output(const Sides& sides, const tensors::TensorTable& exact_table,
                             const compare::CompareOptions& how, TrialResult& result) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (exact_table.empty() || ours.size() != theirs.size() || ours.size() < 2) return;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &expected = tensors::tensor_at(sides.reference.tensors(), ours[k]),
                     &exact = tensors::tensor_at(exact_table, ours[k]),
                     &got = tensors::tensor_at(sides.candidate.tensors(), theirs[k]);
    if (!expected.is_floating_point() ||
        !at::isfinite(tensors::computable(expected)).all().item<bool>())
      continue;
    const double error = may_widen(sides)
                             ? compare::own_error_by_element(expected, exact) / how.widened
                             : compare::own_error(expected, exact);
    if (error > kPreciseShare * tolerance_of(sides).value) continue;
    Numerics ignored;
    auto difference =
        compare::compare_tensors(fmt::format("output {}", k), got, expected, exact, how, ignored);
    if (!difference) continue;
    result.difference = std::move(difference);
    result.is_undecided = false;
    result.reference_is_finite = true;
    result.reference_error = error / tolerance_of(sides).value;
    return;
  }
}

double widen_tolerance(const Sides& sides, const tensors::TensorTable& exact_table,
                       TrialResult& result) {
  constexpr double most = 8;
  if (exact_table.empty() || !may_widen(sides)) return 1;
  double largest = 0;
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  for (const int index : outputs)
    largest = std::max(
        largest, compare::own_error_by_element(tensors::tensor_at(sides.reference.tensors(), index),
                                               exact_table.at(static_cast<std::size_t>(index))));
  if (!std::isfinite(largest)) return 1;
  // An element far larger than the others makes a sum as coarse as that element's own rounding.
  const double share = is_spiked(sides.config.kind) ? kPreciseShare / 2 : kPreciseShare;
  const double least =
      !is_extreme(sides.config.kind) && decides_by_scores(sides.config.task) ? 2 : 1;
  const double factor = std::clamp(largest / tolerance_of(sides).value / share, least, most);
  result.is_error_widened = true;
  result.reference_error /= factor;
  return factor;
}

}  // namespace tritonsmith::gym::trial
