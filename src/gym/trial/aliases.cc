#include "gym/trial/aliases.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

#include "gym/trial/perturbation.h"

namespace tritonsmith::gym::trial {
namespace {

// The tensor's bytes among those of its memory, each once where a dimension repeats them.
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
    if (step.phase != plan::Phase::init || step.draw >= 0) continue;  // forward draws those anew
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

}  // namespace tritonsmith::gym::trial
