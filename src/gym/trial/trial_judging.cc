// What a trial makes of its results: the part of Trial that holds the candidate's outputs and state
// against the reference's.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "gym/compare/compare.h"
#include "gym/cuda/fused_oracles.h"
#include "gym/plan/analysis/tensor_devices.h"
#include "gym/trial/aliases.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::trial {
namespace {

std::vector<at::Tensor> outputs_of(const plan::Plan& plan, tensors::TensorTable& tensors) {
  std::vector<int> indices;
  plan::append_tensors(plan.outputs, indices);
  std::vector<at::Tensor> outputs;
  for (const int index : indices) outputs.push_back(tensors::tensor_at(tensors, index));
  return outputs;
}

// Which outputs, by their order, lie in such memory.
std::vector<bool> each_in(const std::set<const void*>& memory,
                          std::span<const at::Tensor> outputs) {
  std::vector<bool> all;
  for (const at::Tensor& output : outputs)
    all.push_back(output.numel() > 0 && memory.contains(output.storage().data()));
  return all;
}

std::optional<std::size_t> first_beyond(const std::vector<bool>& got,
                                        const std::vector<bool>& allowed) {
  for (std::size_t k = 0; k < got.size(); ++k)
    if (got[k] && (k >= allowed.size() || !allowed[k])) return k;
  return std::nullopt;
}

}  // namespace

void Trial::judge() {
  const c10::InferenceMode no_gradients(true);
  const Stopwatch watch;
  device_.foresee(shared_now());
  compare::CompareOptions how = comparison();
  tensors::TensorTable oracle;
  bool is_right = config_.fused != nullptr && judge_at_once(oracle);
  if (!is_right && config_.fused != nullptr) {
    await_reference();
    if (result_.reference_stop) return;
  }
  if (!is_right) {
    if (config_.fused != nullptr && config_.with_oracle) widen_inputs();
    oracle = run_oracle();
    if (result_.candidate_stop || result_.reference_stop) return;
    is_right = config_.fused == nullptr && judge_at_once(oracle);
  }
  if (!is_right) {
    measure_reference(oracle);
    how.widened = widening(oracle);
    how.tolerance.value *= how.widened;
    result_.difference = compare::compare_outputs({config_.candidate.outputs, candidate_.tensors()},
                                                  {task().outputs, reference_.tensors()}, oracle,
                                                  how, result_.numerics);
    if (std::holds_alternative<plan::TensorRef>(task().outputs.data))
      leeway_ = result_.numerics.leeway;
    if (result_.difference && is_extreme(config_.kind)) {
      see_breakdown(oracle);
      look_at_precise_outputs(oracle, how);
    }
  }
  if (!result_.difference) result_.difference = compare_devices();
  if (!result_.difference) result_.difference = compare_state(oracle, how);
  if (!result_.difference) result_.difference = compare_aliases();
  if (!result_.difference) see_changed_state();
  forget_made(oracle);
  result_.compare_ms = watch.milliseconds();
}

// One pass finds most candidates right. What it does not, or not surely, is looked at closely.
bool Trial::judge_at_once(const tensors::TensorTable& oracle) {
  if (is_spiked(config_.kind)) return false;  // own_error_by_element() is needed
  compare::DeviceComparison* device = device_.comparison();
  const auto* ours = std::get_if<plan::TensorRef>(&task().outputs.data);
  const auto* theirs = std::get_if<plan::TensorRef>(&config_.candidate.outputs.data);
  if (device == nullptr || ours == nullptr || theirs == nullptr) return false;
  const at::Tensor& expected = tensors::tensor_at(reference_.tensors(), ours->index);
  const at::Tensor& got = tensors::tensor_at(candidate_.tensors(), theirs->index);
  if (!got.defined() || got.scalar_type() != expected.scalar_type() ||
      got.sizes() != expected.sizes() || !got.is_contiguous() || !expected.is_contiguous() ||
      got.is_neg() || expected.is_neg() ||  // not as it lies in memory
      !expected.is_floating_point() || expected.numel() == 0)
    return false;
  const auto exact = exact_values(expected, oracle, ours->index);
  if (!exact) return false;
  const compare::QuickJudgement judged = device->judge(got, expected, *exact, comparison());
  if (!judged.is_right) return false;
  result_.reference_is_finite = judged.reference.is_finite;
  result_.reference_error = judged.reference.own_error / tolerance().value;
  if (may_widen()) {  // right without it: nothing is excused
    result_.is_error_widened = true;
    result_.reference_error = 0;
  }
  result_.numerics.max_abs = std::max(result_.numerics.max_abs, judged.max_abs);
  result_.numerics.max_rel = std::max(result_.numerics.max_rel, judged.max_rel);
  return true;
}

std::optional<compare::ExactValues> Trial::exact_values(const at::Tensor& reference,
                                                        const tensors::TensorTable& oracle,
                                                        int output) {
  if (config_.fused == nullptr) {
    if (oracle.empty()) return std::nullopt;
    const at::Tensor& exact = oracle.at(static_cast<std::size_t>(output));
    const bool fits = exact.defined() && exact.scalar_type() == at::kDouble &&
                      exact.sizes() == reference.sizes() && exact.is_contiguous();
    return fits ? std::optional(compare::ExactValues{.values = exact}) : std::nullopt;
  }
  compare::ExactValues exact{.fused = config_.fused};
  for (const int index : config_.fused->leaves) {
    const at::Tensor& leaf = tensors::tensor_at(reference_.tensors(), index);
    const plan::DType declared = config_.task.tensors.at(static_cast<std::size_t>(index)).dtype;
    if (!leaf.defined() || !leaf.is_cuda() || !leaf.is_contiguous() ||
        leaf.numel() != reference.numel() ||
        leaf.scalar_type() != tensors::scalar_type_of(declared))
      return std::nullopt;
    exact.leaves.push_back(leaf);
  }
  return exact;
}

std::optional<VerdictError> Trial::compare_with_reference(const tensors::TensorTable& tensors) {
  Numerics ignored;
  compare::CompareOptions how = comparison();
  how.leeway = leeway_;
  return compare::compare_outputs({config_.candidate.outputs, tensors},
                                  {task().outputs, reference_.tensors()}, {}, how, ignored);
}

compare::CompareOptions Trial::comparison() {
  return {.rule = config_.comparison,
          .tolerance = tolerance(),
          .unit = is_changed() ? compare::AbsoluteUnit::output_size : compare::AbsoluteUnit::one,
          .filler = filler_,
          .device = device_.comparison()};
}

// Where a GPU measures, or in trials of extreme values, each output; on a CPU else where the answer
// costs next to nothing.
void Trial::measure_reference(const tensors::TensorTable& oracle) {
  constexpr std::int64_t few = 1 << 20;
  compare::DeviceComparison* device = device_.comparison();
  result_.is_exact_known = !oracle.empty();
  double largest = oracle.empty() ? std::numeric_limits<double>::infinity() : 0;
  std::vector<int> outputs;
  plan::append_tensors(task().outputs, outputs);
  for (const int index : outputs) {
    const at::Tensor& output = tensors::tensor_at(reference_.tensors(), index);
    if (!output.is_floating_point()) continue;
    const at::Tensor exact =
        oracle.empty() ? at::Tensor() : oracle.at(static_cast<std::size_t>(index));
    if (is_spiked(config_.kind) || may_widen() ||
        (is_extreme(config_.kind) && output.element_size() < 4)) {
      result_.reference_is_finite =
          result_.reference_is_finite && at::isfinite(output).all().item<bool>();
      largest = std::max(largest, compare::own_error_by_element(output, exact));
      continue;
    }
    if (device != nullptr && exact.defined() && exact.sizes() == output.sizes()) {
      const compare::ReferenceQuality quality = device->measure(output, exact);
      result_.reference_is_finite = result_.reference_is_finite && quality.is_finite;
      largest = std::max(largest, quality.own_error);
      continue;
    }
    result_.reference_is_finite =
        result_.reference_is_finite && at::isfinite(output).all().item<bool>();
    if (is_extreme(config_.kind) || output.numel() <= few)
      largest = std::max(largest, compare::own_error(output, exact));
  }
  result_.reference_error = largest / tolerance().value;
}

// An exponential that overflows is wrong however coarse PyTorch is there.
void Trial::see_breakdown(const tensors::TensorTable& oracle) {
  std::vector<int> ours, theirs;
  plan::append_tensors(task().outputs, ours);
  plan::append_tensors(config_.candidate.outputs, theirs);
  if (oracle.empty() || ours.size() != theirs.size()) return;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &expected = tensors::tensor_at(reference_.tensors(), ours[k]),
                     &exact = tensors::tensor_at(oracle, ours[k]),
                     &got = tensors::tensor_at(candidate_.tensors(), theirs[k]);
    if (!expected.is_floating_point() || !got.defined() || got.sizes() != expected.sizes() ||
        !exact.defined() || exact.sizes() != expected.sizes())
      continue;
    constexpr double far_below = 1.0 / 64;
    const double most = far_below * (expected.scalar_type() == at::kHalf ? 65504.0 : 1e38);
    const at::Tensor is_number = at::isfinite(expected).logical_and_(exact.abs() < most);
    if (at::isfinite(got).logical_not_().logical_and_(is_number).any().item<bool>())
      result_.breaks_down = true;
  }
}

// One of several outputs that overflows, or in which PyTorch loses its digits, excuses no other.
void Trial::look_at_precise_outputs(const tensors::TensorTable& oracle,
                                    const compare::CompareOptions& how) {
  std::vector<int> ours, theirs;
  plan::append_tensors(task().outputs, ours);
  plan::append_tensors(config_.candidate.outputs, theirs);
  if (oracle.empty() || ours.size() != theirs.size() || ours.size() < 2) return;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const at::Tensor &expected = tensors::tensor_at(reference_.tensors(), ours[k]),
                     &exact = tensors::tensor_at(oracle, ours[k]),
                     &got = tensors::tensor_at(candidate_.tensors(), theirs[k]);
    if (!expected.is_floating_point() || !at::isfinite(expected).all().item<bool>()) continue;
    const double error = may_widen() ? compare::own_error_by_element(expected, exact) / how.widened
                                     : compare::own_error(expected, exact);
    if (error > kPreciseShare * tolerance().value) continue;
    Numerics ignored;
    auto difference =
        compare::compare_tensors(fmt::format("output {}", k), got, expected, exact, how, ignored);
    if (!difference) continue;
    result_.difference = std::move(difference);
    result_.reference_is_finite = true;
    result_.reference_error = error / tolerance().value;
    return;
  }
}

// In 16 bits PyTorch rounds between operators, and on inputs that the judge changed that alone may
// be as much as the tolerance. What a kernel leaves out there is far more: the tolerance grows with
// PyTorch's error.
double Trial::widening(const tensors::TensorTable& oracle) {
  constexpr double most = 8;
  if (oracle.empty() || !may_widen()) return 1;
  double largest = 0;
  std::vector<int> outputs;
  plan::append_tensors(task().outputs, outputs);
  for (const int index : outputs)
    largest = std::max(
        largest, compare::own_error_by_element(tensors::tensor_at(reference_.tensors(), index),
                                               oracle.at(static_cast<std::size_t>(index))));
  if (!std::isfinite(largest)) return 1;
  // One element that counts for all the others makes a sum of them as coarse as its own rounding.
  const double share = is_spiked(config_.kind) ? kPreciseShare / 2 : kPreciseShare;
  const double least = !is_extreme(config_.kind) && decides_by_scores(config_.task) ? 2 : 1;
  const double factor = std::clamp(largest / tolerance().value / share, least, most);
  result_.is_error_widened = true;
  result_.reference_error /= factor;
  return factor;
}

bool Trial::may_widen() { return is_changed() && compare::is_coarse(tolerance().widest); }

std::optional<VerdictError> Trial::compare_devices() const {
  std::vector<int> ours, theirs;
  plan::append_tensors(task().outputs, ours);
  plan::append_tensors(config_.candidate.outputs, theirs);
  const auto expected = plan::analysis::tensors_on_cpu(task()),
             got = plan::analysis::tensors_on_cpu(config_.candidate);
  for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k)
    if (got.at(static_cast<std::size_t>(theirs[k])) &&
        !expected.at(static_cast<std::size_t>(ours[k])))
      return VerdictError{.error_class = "wrong_device",
                          .message = fmt::format("output tensor {} lies in the CPU's memory", k)};
  return std::nullopt;
}

// The widest of the task's own floating types decides: fp16 inputs give fp16 noise in an fp32
// output too.
compare::Tolerance Trial::tolerance() {
  std::vector<int> indices = input_tensors(config_.task);
  plan::append_tensors(task().outputs, indices);
  for (const plan::PlanParameter& parameter : config_.task.parameters)
    indices.push_back(parameter.tensor);
  compare::Tolerance widest;
  for (const int index : indices)
    widest = compare::wider_of(
        widest,
        compare::tolerance_of(tensors::tensor_at(reference_.tensors(), index).scalar_type()));
  return compare::tightened(widest, config_.tolerance);
}

// The reference's and the candidate's by turns.
std::vector<at::Tensor> Trial::shared_now() {
  std::vector<at::Tensor> now;
  for (const Shared& each : shared_) {
    now.push_back(tensors::tensor_at(reference_.tensors(), each.reference));
    now.push_back(tensors::tensor_at(candidate_.tensors(), each.candidate));
  }
  return now;
}

std::optional<VerdictError> Trial::compare_state(const tensors::TensorTable& oracle,
                                                 const compare::CompareOptions& how) {
  const std::vector<at::Tensor> now = shared_now();
  std::vector<device::Snapshot> before;
  for (const Shared& each : shared_) before.insert(before.end(), 2, each.before);
  const std::vector<bool> unchanged = device_.each_unchanged(now, before);
  shared_is_intact_ = std::ranges::find(unchanged, false) == unchanged.end();
  changed_state_ = !shared_is_intact_;
  for (std::size_t k = 0; k < shared_.size(); ++k)
    if (!unchanged[2 * k] && !shared_[k].is_input) result_.reference_keeps_state = true;
  for (std::size_t k = 0; k < shared_.size(); ++k) {
    const Shared& each = shared_[k];
    if (!unchanged[2 * k]) {
      Numerics numerics;
      const at::Tensor exact =
          oracle.empty() ? at::Tensor() : oracle.at(static_cast<std::size_t>(each.reference));
      auto error =
          compare::compare_tensors(each.what, now[2 * k + 1], now[2 * k], exact, how, numerics);
      result_.numerics.leeway = std::max(result_.numerics.leeway, numerics.leeway);
      if (error)
        return VerdictError{.error_class = "state_mismatch",
                            .message = "the reference changes " + error->message};
    } else if (!unchanged[2 * k + 1]) {
      return VerdictError{
          .error_class = each.is_input ? "input_mutated" : "weight_mutated",
          .message = fmt::format("{} was changed; the reference leaves it", each.what)};
    }
  }
  for (const Unmatched& each : unmatched_)
    if (!device_.unchanged(tensors::tensor_at(reference_.tensors(), each.reference), each.before))
      return VerdictError{.error_class = "state_mismatch",
                          .message = fmt::format("the reference changes {}: the candidate has no "
                                                 "such parameter or buffer",
                                                 each.name)};
  return std::nullopt;
}

// Outputs may share memory, with each other or with what was there before, only where the
// reference's do. What a shell returns says so of inputs alone.
std::optional<VerdictError> Trial::compare_aliases() {
  const std::vector<at::Tensor> got = outputs_of(config_.candidate, candidate_.tensors()),
                                expected = outputs_of(task(), reference_.tensors());
  const auto beyond = [&](auto memory_of) {
    return first_beyond(each_in(memory_of(config_.candidate, candidate_.tensors()), got),
                        each_in(memory_of(task(), reference_.tensors()), expected));
  };
  if (const auto k = beyond(memory_of_inputs); k && !aliases_input_)
    return VerdictError{
        .error_class = "output_aliases_input",
        .message = "an output shares the memory of an input; the reference's does not"};
  if (!reference_replays()) return std::nullopt;
  if (beyond(memory_of_state))
    return VerdictError{.error_class = "output_aliases_state",
                        .message =
                            "an output lies in memory that the module keeps; the next call "
                            "would overwrite it. The reference's does not"};
  for (std::size_t k = 1; k < got.size(); ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (share_memory(got[k], got[other]) && !share_memory(expected.at(k), expected.at(other)))
        return VerdictError{.error_class = "output_aliases_output",
                            .message = fmt::format("output tensors {} and {} share memory; the "
                                                   "reference's do not",
                                                   other, k)};
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
