#include "gym/trial/weights/call_counts.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cmath>

namespace tritonsmith::gym::trial {

Counts counts_after_calls(const std::vector<plan::analysis::CallCounter>* counters,
                          std::int64_t calls, const tensors::TensorTable& reference) {
  Counts counts;
  if (counters == nullptr) return counts;
  for (const plan::analysis::CallCounter& counter : *counters) {
    const at::Tensor& tensor = tensors::tensor_at(reference, counter.tensor);
    if (!tensor.defined() || tensor.numel() != 1) continue;
    const auto first = tensor.to(at::kDouble).item<double>();
    double now = first + static_cast<double>(counter.step * calls);
    if (counter.modulus != 0) {
      const auto modulus = static_cast<double>(counter.modulus);
      now -= modulus * std::floor(now / modulus);
    }
    if (first == std::floor(first)) counts.emplace_back(counter.tensor, now);
  }
  return counts;
}

void set_counts(const Counts& counts, tensors::TensorTable& reference) {
  const c10::InferenceMode no_gradients(true);
  for (const auto& [tensor, count] : counts) tensors::tensor_at(reference, tensor).fill_(count);
}

}  // namespace tritonsmith::gym::trial
