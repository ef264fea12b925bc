// The one place that says which torch header the referee's headers use: the light one.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace tritonsmith::gym::tensors {

// By the plan's tensor index; undefined where no step has made it yet.
using TensorTable = std::vector<at::Tensor>;

// `index` comes from a plan that was checked.
inline at::Tensor& tensor_at(TensorTable& tensors, int index) {
  return tensors.at(static_cast<std::size_t>(index));
}
inline const at::Tensor& tensor_at(const TensorTable& tensors, int index) {
  return tensors.at(static_cast<std::size_t>(index));
}

// All bytes of the memory that a tensor lies in.
at::Tensor storage_bytes(const at::Tensor& tensor);

}  // namespace tritonsmith::gym::tensors
