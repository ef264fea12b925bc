#include "gym/trial/aliases.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include <algorithm>
#include <span>

#include "gym/plan/analysis/tensor_names.h"
#include "gym/trial/perturb/perturbation.h"

namespace tritonsmith::gym::trial {
namespace {

// Returns the tensor's bytes as a view of its memory. A dimension of stride 0 counts once.
at::Tensor bytes_among(const at::Tensor& memory, const at::Tensor& tensor) {
  const std::int64_t width = tensor.element_size();
  std::vector<std::int64_t> sizes, strides;
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    sizes.push_back(tensor.stride(d) == 0 ? 1 : tensor.size(d));
    strides.push_back(tensor.stride(d) * width);
  }
  sizes.push_back(width);
  strides.push_back(1);
  return memory.as_strided(sizes, strides, tensor.storage_offset() * width);
}

void add_memory(const std::vector<int>& indices, const tensors::TensorTable& tensors,
                std::set<const void*>& memory) {
  for (const int index : indices) {
    const at::Tensor& tensor = tensors.at(static_cast<std::size_t>(index));
    if (tensor.defined() && tensor.storage().nbytes() > 0) memory.insert(tensor.storage().data());
  }
}

std::vector<at::Tensor> outputs_of(const plan::Plan& plan, tensors::TensorTable& tensors) {
  std::vector<int> indices;
  plan::append_tensors(plan.outputs, indices);
  std::vector<at::Tensor> outputs;
  for (const int index : indices) outputs.push_back(tensors::tensor_at(tensors, index));
  return outputs;
}

// For each output in order: says whether it lies in one of these memories.
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

// Names the input or the weight in whose memory the tensor lies.
std::string owner_of(const at::Tensor& tensor, std::span<const SharedTensor> shared,
                     tensors::TensorTable& table) {
  for (const SharedTensor& each : shared)
    if (tensors::tensor_at(table, each.candidate).storage().data() == tensor.storage().data())
      return each.what;
  return "an input or a weight";
}

}  // namespace

bool share_memory(const at::Tensor& a, const at::Tensor& b) {
  if (a.numel() == 0 || b.numel() == 0 || a.storage().data() != b.storage().data()) return false;
  const at::MemOverlapStatus status = at::get_overlap_status(a, b);
  if (status != at::MemOverlapStatus::TooHard) return status != at::MemOverlapStatus::No;
  const at::Tensor seen =
      at::zeros({static_cast<std::int64_t>(a.storage().nbytes())}, a.options().dtype(at::kBool));
  bytes_among(seen, a).fill_(true);
  return bytes_among(seen, b).any().item<bool>();
}

std::set<const void*> memory_of_inputs(const plan::Plan& plan,
                                       const tensors::TensorTable& tensors) {
  std::set<const void*> memory;
  add_memory(input_tensors(plan), tensors, memory);
  return memory;
}

std::set<const void*> memory_of_state(const plan::Plan& plan, const tensors::TensorTable& tensors) {
  std::vector<int> indices;
  for (const plan::PlanParameter& parameter : plan.parameters) indices.push_back(parameter.tensor);
  for (const plan::PlanStep& step : plan.steps) {
    // forward repeats this draw in memory of its own
    const bool is_kept = step.phase == plan::Phase::init || step.phase == plan::Phase::first_call;
    if (!is_kept || step.draw >= 0) continue;
    if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) {
      for (const int output : call->outputs)
        if (output >= 0) indices.push_back(output);
    } else if (const auto* constant = std::get_if<plan::ConstantStep>(&step.action)) {
      indices.push_back(constant->output);
    }
  }
  std::set<const void*> memory;
  add_memory(indices, tensors, memory);
  return memory;
}

bool keeps_output(Sides& sides) {
  const auto each_kept = [](const plan::Plan& plan, tensors::TensorTable& tensors) {
    return each_in(memory_of_state(plan, tensors), outputs_of(plan, tensors));
  };
  return sides.reference_replays() &&
         first_beyond(each_kept(sides.config.candidate, sides.candidate.tensors()),
                      each_kept(sides.task(), sides.reference.tensors()));
}

std::optional<VerdictError> compare_aliases(Sides& sides, std::span<const SharedTensor> shared) {
  const std::vector<at::Tensor> got = outputs_of(sides.config.candidate, sides.candidate.tensors()),
                                expected = outputs_of(sides.task(), sides.reference.tensors());
  const bool aliases_input = sides.answered && sides.answered->aliases_input;
  const std::vector<std::string> names = plan::analysis::output_names(sides.config.candidate);
  const auto beyond = [&](const std::set<const void*>& theirs, const std::set<const void*>& ours) {
    return first_beyond(each_in(theirs, got), each_in(ours, expected));
  };
  const auto message = [&](std::size_t k) {
    return fmt::format("{} shares the memory of {}; the reference's does not", names.at(k),
                       owner_of(got[k], shared, sides.candidate.tensors()));
  };
  if (!aliases_input) {
    const auto k = beyond(memory_of_inputs(sides.config.candidate, sides.candidate.tensors()),
                          memory_of_inputs(sides.task(), sides.reference.tensors()));
    if (k)
      return VerdictError{.error_class = ErrorClass::output_aliases_input, .message = message(*k)};
  }
  if (!sides.reference_replays()) return std::nullopt;
  std::vector<int> weights;
  for (const SharedTensor& each : shared)
    if (!each.is_input) weights.push_back(each.candidate);
  std::set<const void*> memory_of_weights;
  add_memory(weights, sides.candidate.tensors(), memory_of_weights);
  if (const auto k =
          beyond(memory_of_weights, memory_of_state(sides.task(), sides.reference.tensors())))
    return VerdictError{.error_class = ErrorClass::output_aliases_state, .message = message(*k)};
  for (std::size_t k = 1; k < got.size(); ++k)
    for (std::size_t other = 0; other < k; ++other)
      if (share_memory(got[k], got[other]) && !share_memory(expected.at(k), expected.at(other)))
        return VerdictError{.error_class = ErrorClass::output_aliases_output,
                            .message = fmt::format("{} and {} share memory; the reference's do not",
                                                   names.at(other), names.at(k))};
  return std::nullopt;
}

}  // namespace tritonsmith::gym::trial
