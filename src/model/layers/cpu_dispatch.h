// Chooses between the CPU kernels' two types for a tensor.
#pragma once

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include "base/check.h"
#include "model/cpu/parallel.h"

namespace tritonsmith::model {

// Calls body.template operator()<T>() for the tensor's type, with torch's number of threads.
template <typename Body>
auto dispatch(const at::Tensor& tensor, const Body& body) {
  cpu::set_threads(at::get_num_threads());
  CHECK(tensor.is_cpu() &&
            (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble),
        "the CPU kernels take float32 and float64, not {}", c10::toString(tensor.scalar_type()));
  return tensor.scalar_type() == at::kDouble ? body.template operator()<double>()
                                             : body.template operator()<float>();
}

}  // namespace tritonsmith::model
