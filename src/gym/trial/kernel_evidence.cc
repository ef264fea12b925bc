#include "gym/trial/kernel_evidence.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "gym/compare/compare.h"
#include "gym/trial/findings/kernel_use.h"
#include "gym/trial/findings/unchanged_values.h"

namespace tritonsmith::gym::trial {
namespace {

bool is_measured(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.element_size() > 1 &&
         tensor.numel() > 0;
}

// Returns a number far from all values of these inputs and from their squares. The number is finite
// in the inputs' type.
double far_away(const std::vector<int>& inputs, const tensors::TensorTable& tensors,
                at::ScalarType type) {
  constexpr double least = 1e4, times = 16, finite_in_half = 6e4;
  double largest = 1;
  for (const int index : inputs) {
    const at::Tensor& input = tensors.at(static_cast<std::size_t>(index));
    if (is_measured(input)) largest = std::max(largest, input.abs().max().item<double>());
  }
  const double far = std::max(least, times * largest * largest);
  return std::min(far, type == at::kHalf ? finite_in_half : 1e30);
}

// Runs the reference again on copies, with these values for one input. Returns whether it gives the
// same outputs as before. An input of -1 leaves all inputs as they are. Returns nothing if the
// reference does not run.
std::optional<bool> same_with(Sides& sides, int input, const at::Tensor& values) {
  const plan::Plan& task = sides.config.task;
  replay::Replay again(task, sides.executor,
                       {.deadline = sides.config.deadline,
                        .device = &sides.device,
                        .draws_seed = sides.seed_of("draws")});
  try {
    tensors::TensorTable copies;
    for (const at::Tensor& tensor : sides.reference.tensors())
      copies.push_back(tensor.defined() ? tensor.clone() : at::Tensor());
    if (input >= 0) tensors::tensor_at(copies, input).copy_(values);
    again.tensors() = std::move(copies);
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  }
  sides.seed("forward");
  if (again.draw_again() || again.run(plan::Phase::forward) ||
      sides.device.wait(sides.config.deadline))
    return std::nullopt;
  Numerics ignored;
  return !compare::compare_outputs({task.outputs, again.tensors()},
                                   {task.outputs, sides.reference.tensors()}, {},
                                   comparison_of(sides), ignored);
}

// Says whether an input's own values decide nothing here, though other values would. In a maximum
// of two inputs the smaller one is hidden. An input that never decides anything is not hidden.
bool is_hidden(Sides& sides, int input) {
  const tensors::TensorTable& tensors = sides.reference.tensors();
  const at::Tensor& values = tensors::tensor_at(tensors, input);
  if (!is_measured(values)) return false;
  sides.seed("hidden");
  const at::Tensor factors =
      at::rand(values.sizes(), at::dtype(at::kFloat).device(values.device())).mul_(0.2).add_(0.4);
  const at::Tensor smaller = values * factors.to(values.scalar_type());
  if (at::equal(smaller, values) || same_with(sides, input, smaller) != true) return false;
  const double far = far_away(input_tensors(sides.config.task), tensors, values.scalar_type());
  return same_with(sides, input, values + far) == false;
}

// Says whether no input that kernels read decides anything here.
bool hides_what_kernels_read(Sides& sides, const replay::LaunchTraces& launches) {
  if (same_with(sides, -1, {}) != true) return false;  // the reference changes what it reads
  const std::vector<int> ours = input_tensors(sides.config.task);
  const std::vector<int> theirs = input_tensors(sides.config.candidate);
  bool any = false;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    if (!kernels_read(sides.config.candidate, launches, theirs[k])) continue;
    if (!is_hidden(sides, ours[k])) return false;
    any = true;
  }
  return any;
}

// Returns the elements of a tensor, or of a large one those at regular distances, from a position
// on that the trial's secret decides.
at::Tensor sample_of(const Sides& sides, const at::Tensor& tensor) {
  constexpr std::int64_t most = 1 << 20;
  at::Tensor all = tensor.reshape({-1});
  if (const std::int64_t distance = all.numel() / most; distance > 1) {
    const auto from = sides.seed_of("sample") % static_cast<std::uint64_t>(distance);
    all = all.slice(0, static_cast<std::int64_t>(from), all.numel(), distance);
  }
  const bool is_narrow = all.is_floating_point() && all.element_size() == 1;
  return is_narrow ? all.to(at::kFloat) : all;
}

// Marks those of an output's sampled elements that an input holds at the same position.
at::Tensor held_by_inputs(const Sides& sides, const at::Tensor& output) {
  const at::Tensor sampled = sample_of(sides, output);
  at::Tensor held = at::zeros_like(sampled, at::dtype(at::kBool));
  for (const int index : input_tensors(sides.config.task)) {
    const at::Tensor& input = tensors::tensor_at(sides.reference.tensors(), index);
    if (input.defined() && input.numel() == output.numel() &&
        input.scalar_type() == output.scalar_type() && input.device() == output.device())
      held.logical_or_(sample_of(sides, input).eq(sampled));
  }
  return held;
}

}  // namespace

std::optional<double> share_that_needs_kernels(const Sides& sides,
                                               const tensors::TensorTable& without) {
  std::vector<int> ours, theirs;
  plan::append_tensors(sides.task().outputs, ours);
  plan::append_tensors(sides.config.candidate.outputs, theirs);
  const double tolerance = tolerance_of(sides).value;
  double needed = 0, counted = 0;
  for (std::size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
    const at::Tensor &expected = tensors::tensor_at(sides.reference.tensors(), ours[k]),
                     &got = tensors::tensor_at(without, theirs[k]);
    if (!got.defined() || got.sizes() != expected.sizes() ||
        got.scalar_type() != expected.scalar_type() || got.device() != expected.device())
      return std::nullopt;
    const at::Tensor counts = held_by_inputs(sides, expected).logical_not_();
    const at::Tensor right =
        at::isclose(sample_of(sides, got), sample_of(sides, expected), tolerance, tolerance, true);
    counted += counts.sum().item<double>();
    needed += right.logical_not().logical_and_(counts).sum().item<double>();
  }
  return counted > 0 ? std::optional(needed / counted) : std::nullopt;
}

void weigh_unchanged_values(Sides& sides, TrialResult& result) {
  const bool is_suspect = result.kernels_only_copied || result.right_without_kernels;
  if (!is_suspect || !sides.reference_replays()) return;
  const c10::InferenceMode no_gradients(true);
  const TrialConfig& config = sides.config;
  tensors::TensorTable &ours = sides.reference.tensors(), &theirs = sides.candidate.tensors();
  if (lack_spread(input_tensors(config.task), ours))
    result.copying_is_inconclusive = result.needless_is_inconclusive = true;
  const std::vector<at::Tensor> unchanged = unchanged_values(config.task, ours);
  const double tolerance = tolerance_of(sides).value;
  const auto any_unchanged = [&](const std::vector<int>& indices,
                                 const tensors::TensorTable& tensors) {
    return std::ranges::any_of(indices, [&](int index) {
      return are_among(unchanged, tensors::tensor_at(tensors, index), tolerance);
    });
  };
  // On a CPU every store is seen.
  if (!unchanged.empty() && !sides.device.torch_device().is_cpu())
    add_unseen_stores(config.candidate, config.choices, theirs, unchanged, tolerance,
                      result.launches);
  for (const auto& [step, launch] : result.launches)
    result.copying_is_inconclusive =
        result.copying_is_inconclusive || any_unchanged(launch.stored_tensors, theirs);
  std::vector<int> outputs;
  plan::append_tensors(sides.task().outputs, outputs);
  result.needless_is_inconclusive =
      result.needless_is_inconclusive || any_unchanged(outputs, ours) ||
      (result.right_without_kernels && hides_what_kernels_read(sides, result.launches));
  if (result.right_without_kernels && result.needless_is_inconclusive) result.needed_share.reset();
}

}  // namespace tritonsmith::gym::trial
