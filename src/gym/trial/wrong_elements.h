// The elements of the outputs at which the candidate is wrong. The referee reads and writes the reference's
// values there. The referee's one thread calls this.
#pragma once

#include <vector>

#include "gym/compare/compare.h"
#include "gym/trial/element_values.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// One side's outputs, flat: the tensors of its result in their order.
std::vector<at::Tensor> flat_outputs(const plan::Value& outputs,
                                     const tensors::TensorTable& tensors);

// Returns the wrong elements with the candidate's values. Returns nothing if there are none, or more than
// 65,536. Of an output, at most one whole number in 64, or one floating number in 16, may be wrong. Returns
// nothing either if the outputs have other types or shapes, or hold complex numbers or whole numbers beyond
// 2^53.
std::vector<ElementValues> few_wrong_elements(const std::vector<at::Tensor>& candidate,
                                              const std::vector<at::Tensor>& reference,
                                              const compare::CompareOptions& how);

// Returns the values of the same elements in other outputs, or nothing if these have another size.
std::vector<ElementValues> values_at(const std::vector<ElementValues>& elements,
                                     const std::vector<at::Tensor>& outputs);

// Writes the values into the reference's outputs, and into those in float64 where they are defined. Skips
// memory that forward did not make.
void write_values(const std::vector<ElementValues>& values, const Sides& sides,
                  const tensors::TensorTable& exact);

}  // namespace tritonsmith::gym::trial
