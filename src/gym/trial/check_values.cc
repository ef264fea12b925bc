#include "gym/trial/check_values.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "gym/compare/compare.h"
#include "gym/compare/order_ties.h"
#include "gym/cuda/fused_oracles.h"
#include "gym/plan/analysis/returned_order.h"
#include "gym/trial/jumps.h"
#include "gym/trial/oracle.h"
#include "gym/trial/reference_precision.h"
#include "gym/trial/weakness.h"
#include "gym/trial/wrong_elements.h"

namespace tritonsmith::gym::trial {
namespace {

// Returns where one pass over the output finds its exact values: in a float64 tensor, or computed
// from the task's inputs. Returns nothing where the values do not fit that pass.
std::optional<compare::ExactValues> exact_values(const Sides& sides, const at::Tensor& reference,
                                                 const tensors::TensorTable& exact_table,
                                                 int output) {
  if (sides.config.fused == nullptr) {
    if (exact_table.empty()) return std::nullopt;
    const at::Tensor& exact = exact_table.at(static_cast<std::size_t>(output));
    const bool fits = exact.defined() && exact.scalar_type() == at::kDouble &&
                      exact.sizes() == reference.sizes() && exact.is_contiguous();
    return fits ? std::optional(compare::ExactValues{.values = exact}) : std::nullopt;
  }
  compare::ExactValues exact{.fused = sides.config.fused};
  for (const int index : sides.config.fused->leaves) {
    const at::Tensor& leaf = tensors::tensor_at(sides.reference.tensors(), index);
    const plan::DType declared =
        sides.config.task.tensors.at(static_cast<std::size_t>(index)).dtype;
    if (!leaf.defined() || !leaf.is_cuda() || !leaf.is_contiguous() ||
        leaf.numel() != reference.numel() ||
        leaf.scalar_type() != tensors::scalar_type_of(declared))
      return std::nullopt;
    exact.leaves.push_back(leaf);
  }
  return exact;
}

// Says whether the trial asks how errors change with other rounding.
bool tells_errors(const TrialConfig& config) {
  return config.purpose == TrialPurpose::measure_errors || config.nudge.units != 0 ||
         !config.rounding.is_usual();
}

// Compares in one pass, which finds most candidates right. Returns false if it is not sure.
bool is_right_at_once(const Sides& sides, const tensors::TensorTable& exact_table,
                      TrialResult& result) {
  // own_error_by_element() or errors_in_tolerances() is needed
  if (is_spiked(sides.config.kind) || tells_errors(sides.config)) return false;
  if (sides.config.adopted != nullptr) return false;
  if (!sides.fills.empty()) return false;  // filled elements count for themselves
  compare::DeviceComparison* device = sides.device.comparison();
  const auto* ours = std::get_if<plan::TensorRef>(&sides.task().outputs.data);
  const auto* theirs = std::get_if<plan::TensorRef>(&sides.config.candidate.outputs.data);
  if (device == nullptr || ours == nullptr || theirs == nullptr) return false;
  const at::Tensor& expected = tensors::tensor_at(sides.reference.tensors(), ours->index);
  const at::Tensor& got = tensors::tensor_at(sides.candidate.tensors(), theirs->index);
  if (!got.defined() || got.scalar_type() != expected.scalar_type() ||
      got.sizes() != expected.sizes() || !got.is_contiguous() || !expected.is_contiguous() ||
      got.is_neg() || expected.is_neg() ||  // the memory holds the opposite values
      !expected.is_floating_point() || expected.numel() == 0)
    return false;
  // An output of a finer type than an input has a tolerance of its own, which the exact values give.
  if (compare::precision_of(expected.scalar_type()) < tolerance_of(sides).widest) return false;
  const auto exact = exact_values(sides, expected, exact_table, ours->index);
  if (!exact) return false;
  const compare::QuickJudgement judged = device->judge(got, expected, *exact, comparison_of(sides));
  if (!judged.is_right) return false;
  result.reference_is_finite = judged.reference.is_finite;
  const double own_error = judged.reference.own_error;
  result.reference_error = own_error > 0 ? own_error / tolerance_of(sides).value : 0;
  if (may_widen(sides)) {  // the output is right without an extension, so nothing is excused
    result.is_error_widened = true;
    result.reference_error = 0;
  }
  result.numerics.max_abs = std::max(result.numerics.max_abs, judged.max_abs);
  result.numerics.max_rel = std::max(result.numerics.max_rel, judged.max_rel);
  result.numerics.tolerance = std::max(result.numerics.tolerance, tolerance_of(sides).value);
  return true;
}

// Returns how many elements of the outputs without rounding differ, such as indices.
std::int64_t different_elements(const std::vector<at::Tensor>& some,
                                const std::vector<at::Tensor>& others) {
  std::int64_t count = 0;
  for (std::size_t k = 0; k < std::min(some.size(), others.size()); ++k)
    if (some[k].defined() && others[k].defined() && !at::isFloatingType(some[k].scalar_type()) &&
        !some[k].is_complex() && some[k].sizes() == others[k].sizes())
      count += some[k].ne(others[k]).sum().item<std::int64_t>();
  return count;
}

// Tells the elements that are wrong, if they are few or if the reference in float64 has others there, too.
void note_few_wrong(const Sides& sides, const compare::CompareOptions& how,
                    const tensors::TensorTable& exact_table, TrialResult& result) {
  constexpr std::int64_t times = 4;
  const TrialConfig& config = sides.config;
  if (!config.finds_jumps() || config.adopted != nullptr || tells_errors(config) ||
      result.difference->error_class != ErrorClass::wrong_value)
    return;
  try {
    const auto reference = flat_outputs(sides.task().outputs, sides.reference.tensors()),
               candidate = flat_outputs(config.candidate.outputs, sides.candidate.tensors());
    result.few_wrong = few_wrong_elements(candidate, reference, how);
    result.expected_there = values_at(result.few_wrong, reference);
    if (exact_table.empty()) return;
    const auto exact = flat_outputs(sides.task().outputs, exact_table);
    result.exact_there = values_at(result.few_wrong, exact);
    const std::int64_t wrong = different_elements(candidate, reference);
    result.is_undecided = wrong > 0 && wrong <= times * different_elements(exact, reference);
  } catch (const c10::OutOfMemoryError&) {
    result.few_wrong.clear();  // the values count as wrong
  }
}

bool are_comparable(const at::Tensor& got, const at::Tensor& expected, const at::Tensor& ranked,
                    std::int64_t dimension) {
  return got.defined() && expected.defined() && ranked.defined() &&
         got.sizes() == expected.sizes() && got.scalar_type() == expected.scalar_type() &&
         c10::isIntegralType(got.scalar_type(), false) && got.dim() == ranked.dim() &&
         got.dim() > 0 && dimension >= -got.dim() && dimension < got.dim() && !ranked.is_complex();
}

}  // namespace

bool take_order_of_ties(const Sides& sides, const tensors::TensorTable& candidate,
                        const tensors::TensorTable& exact) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  if (ours.size() != theirs.size()) return true;
  bool all_are_orders = true;
  for (const plan::analysis::ReturnedOrder& order : plan::analysis::returned_orders(sides.task()))
    for (std::size_t k = 0; k < ours.size(); ++k) {
      if (ours[k] != order.output) continue;
      const at::Tensor &got = tensors::tensor_at(candidate, theirs[k]),
                       &ranked = tensors::tensor_at(sides.reference.tensors(), order.ranked);
      const at::Tensor expected = tensors::tensor_at(sides.reference.tensors(), ours[k]);
      if (!are_comparable(got, expected, ranked, order.dimension) || at::equal(got, expected))
        continue;
      all_are_orders =
          all_are_orders && compare::are_orders(got, ranked, order.dimension).all().item<bool>();
      const at::Tensor is_tie =
          compare::names_equal_numbers(got, expected, ranked, order.dimension);
      expected.copy_(at::where(is_tie, got, expected));
      if (exact.empty()) continue;
      const at::Tensor in_float64 = tensors::tensor_at(exact, ours[k]);
      if (in_float64.defined() && in_float64.sizes() == got.sizes())
        in_float64.copy_(at::where(is_tie, got, in_float64));
    }
  return all_are_orders;
}

void answer_question(Sides& sides, TrialResult& result) {
  result.reference_stop = await_reference(sides, std::move(result.reference_stop));
  if (result.is_stopped()) return;
  result.answer =
      values_at(*sides.config.asked, flat_outputs(sides.task().outputs, sides.reference.tensors()));
}

ComparedValues compare_values(Sides& sides, std::optional<tensors::TensorTable> oracle_inputs,
                              TrialResult& result) {
  const TrialConfig& config = sides.config;
  const bool is_fused = config.fused != nullptr;
  ComparedValues compared{.how = comparison_of(sides)};
  bool is_right = is_fused && is_right_at_once(sides, compared.exact, result);
  if (!is_right && is_fused) {
    result.reference_stop = await_reference(sides, std::move(result.reference_stop));
    if (result.reference_stop) return compared;
  }
  if (!is_right) {
    compared.exact = take_oracle_run(
        result, is_fused ? run_oracle_now(sides) : run_oracle(sides, std::move(oracle_inputs)));
    if (result.is_stopped()) return compared;
    is_right = !is_fused && is_right_at_once(sides, compared.exact, result);
  }
  if (is_right) return compared;
  if (config.adopted != nullptr) write_values(*config.adopted, sides, compared.exact);
  const bool are_orders = take_order_of_ties(sides, sides.candidate.tensors(), compared.exact);
  measure_reference(sides, compared.exact, result);
  compared.how.widened = widen_tolerance(sides, compared.exact, result);
  compared.how.tolerance.value *= compared.how.widened;
  result.difference =
      compare::compare_outputs({config.candidate.outputs, sides.candidate.tensors()},
                               {sides.task().outputs, sides.reference.tensors()}, compared.exact,
                               compared.how, result.numerics);
  if (std::holds_alternative<plan::TensorRef>(sides.task().outputs.data))
    compared.tolerance_extension = result.numerics.tolerance_extension;
  if (result.difference) note_few_wrong(sides, compared.how, compared.exact, result);
  result.is_undecided = result.is_undecided && are_orders;
  if (!result.difference && config.adopted != nullptr)
    result.findings.push_back(jump_note(*config.adopted));
  if (tells_errors(config)) {
    result.errors = errors_in_tolerances(sides, compared.exact);
  } else if (result.difference && is_extreme(config.kind)) {
    result.breaks_down = breaks_down(sides, compared.exact);
    result.reference_is_large = is_large(sides);
    if (row_of(config.kind).shows_weakness && !result.breaks_down)
      result.errors = errors_in_tolerances(sides, compared.exact);
    find_wrong_exact_output(sides, compared.exact, compared.how, result);
  }
  return compared;
}

}  // namespace tritonsmith::gym::trial
