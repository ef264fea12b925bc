// TrialNumbers: copies of the inputs and weights that the reference of a trial got. Each device draws in a way of
// its own, so a trial on another device can be given the same numbers only as copies.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>

namespace tritonsmith::gym::trial {

class TrialNumbers {
 public:
  // Keeps a copy of the tensor in the host's memory, under its index in the task's plan.
  void keep(int index, const at::Tensor& tensor);
  // Overwrites the tensor with its copy. Returns false, and leaves the tensor as it is, if there is no copy of
  // its shape and type, or if its elements share memory.
  bool give(int index, const at::Tensor& tensor) const;

 private:
  std::map<int, at::Tensor> copies_;
};

}  // namespace tritonsmith::gym::trial
