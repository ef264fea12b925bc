// What a trial says of kernels that seem idle, and when it says nothing: the part of Trial that
// asks whether this trial's inputs would show what a kernel does.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "gym/compare/compare.h"
#include "gym/plan/analysis/tensor_devices.h"
#include "gym/trial/coincidence.h"
#include "gym/trial/kernel_use.h"
#include "gym/trial/perturbation.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::trial {
namespace {

bool is_measured(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_floating_point() && tensor.element_size() > 1 &&
         tensor.numel() > 0;
}

// Far from all that these inputs hold, for a square root of it, too; and finite in its type.
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

}  // namespace

// Only where there is a suspicion: most kernels do something.
void Trial::see_coincidence() {
  const bool is_suspect = result_.kernels_only_copied || result_.right_without_kernels;
  if (!is_suspect || !reference_replays()) return;
  const c10::InferenceMode no_gradients(true);
  if (lack_spread(input_tensors(config_.task), reference_.tensors()))
    result_.copied_by_coincidence = result_.needless_by_coincidence = true;
  const std::vector<at::Tensor> left = unchanged_values(config_.task, reference_.tensors());
  const auto any_left = [&](const std::vector<int>& indices, tensors::TensorTable& tensors) {
    return std::ranges::any_of(indices, [&](int index) {
      return are_among(left, tensors::tensor_at(tensors, index), tolerance().value);
    });
  };
  if (!left.empty() && !device_.torch_device().is_cpu())  // where every store is seen
    add_unseen_stores(config_.candidate, config_.choices, candidate_.tensors(), left,
                      tolerance().value, result_.launches);
  for (const auto& [step, launch] : result_.launches)
    result_.copied_by_coincidence =
        result_.copied_by_coincidence || any_left(launch.stored_tensors, candidate_.tensors());
  std::vector<int> outputs;
  plan::append_tensors(task().outputs, outputs);
  result_.needless_by_coincidence = result_.needless_by_coincidence ||
                                    any_left(outputs, reference_.tensors()) ||
                                    (result_.right_without_kernels && hides_what_kernels_read());
}

// Whether nothing that kernels read decides anything here.
bool Trial::hides_what_kernels_read() {
  if (same_with(-1, {}) != true) return false;  // a reference that changes what it reads
  const std::vector<int> ours = input_tensors(config_.task);
  const std::vector<int> theirs = input_tensors(config_.candidate);
  bool any = false;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    if (!kernels_read(config_.candidate, result_.launches, theirs[k])) continue;
    if (!is_hidden(ours[k])) return false;
    any = true;
  }
  return any;
}

// Whether an input's own values decide nothing here, though others would: where the greater of two
// counts, and the other is greater everywhere. One that never decides anything is no excuse.
bool Trial::is_hidden(int input) {
  const at::Tensor& values = tensors::tensor_at(reference_.tensors(), input);
  if (!is_measured(values)) return false;
  seed("hidden");
  const at::Tensor factors =
      at::rand(values.sizes(), at::dtype(at::kFloat).device(values.device())).mul_(0.2).add_(0.4);
  const at::Tensor smaller = values * factors.to(values.scalar_type());
  if (at::equal(smaller, values) || same_with(input, smaller) != true) return false;
  const double far =
      far_away(input_tensors(config_.task), reference_.tensors(), values.scalar_type());
  return same_with(input, values + far) == false;
}

// Whether the reference, run again on copies with these values for one input (-1: with its own),
// gives the outputs that it gave; nothing where it does not run.
std::optional<bool> Trial::same_with(int input, const at::Tensor& values) {
  replay::Replay again(
      config_.task, executor_,
      {.deadline = config_.deadline, .device = &device_, .draws_seed = seed_of("draws")});
  try {
    tensors::TensorTable copies;
    for (const at::Tensor& tensor : reference_.tensors())
      copies.push_back(tensor.defined() ? tensor.clone() : at::Tensor());
    if (input >= 0) tensors::tensor_at(copies, input).copy_(values);
    again.tensors() = std::move(copies);
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  }
  seed("forward");
  if (again.draw_again() || again.run(plan::Phase::forward) || device_.wait(config_.deadline))
    return std::nullopt;
  Numerics ignored;
  return !compare::compare_outputs({config_.task.outputs, again.tensors()},
                                   {config_.task.outputs, reference_.tensors()}, {}, comparison(),
                                   ignored);
}

}  // namespace tritonsmith::gym::trial
