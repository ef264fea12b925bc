#include "gym/trial/perturb/trial_numbers.h"

#include <ATen/ATen.h>
#include <ATen/MemoryOverlap.h>

namespace tritonsmith::gym::trial {

void TrialNumbers::keep(int index, const at::Tensor& tensor) {
  copies_[index] = tensor.to(at::kCPU, tensor.scalar_type(), false, true);
}

bool TrialNumbers::give(int index, const at::Tensor& tensor) const {
  const auto at = copies_.find(index);
  if (at == copies_.end() || at->second.sizes() != tensor.sizes() ||
      at->second.scalar_type() != tensor.scalar_type() ||
      at::has_internal_overlap(tensor) == at::MemOverlap::Yes)
    return false;
  tensor.copy_(at->second);
  return true;
}

}  // namespace tritonsmith::gym::trial
