// TensorTable: the tensors of a plan. This is the only header through which the referee's headers
// include torch. It includes the light ATen/core/Tensor.h, because torch/torch.h compiles for long.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tritonsmith::gym::tensors {

// Tensors by the plan's index. A tensor is undefined until a step has made it.
using TensorTable = std::vector<at::Tensor>;

// `index` must come from a checked plan.
inline at::Tensor& tensor_at(TensorTable& tensors, int index) {
  return tensors.at(static_cast<std::size_t>(index));
}
inline const at::Tensor& tensor_at(const TensorTable& tensors, int index) {
  return tensors.at(static_cast<std::size_t>(index));
}

// Returns all bytes of the tensor's storage as one tensor.
at::Tensor storage_bytes(const at::Tensor& tensor);

// Converts 8-bit floats to float32, because few operators support 8 bits. Returns others unchanged.
at::Tensor computable(const at::Tensor& tensor);

}  // namespace tritonsmith::gym::tensors
