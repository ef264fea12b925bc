// Equal numbers have no one order. Where forward returns the indices of numbers in order, the candidate may
// name others of equal numbers than the reference. The referee's one thread calls this.
#pragma once

#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Says for each list of indices along the dimension, in a dimension of size 1, whether it names numbers of
// `ranked`, and none of them twice.
at::Tensor are_orders(const at::Tensor& indices, const at::Tensor& ranked, std::int64_t dimension);
// Says for each element of two such lists whether both name equal numbers. In a list that is no order, none does.
at::Tensor names_equal_numbers(const at::Tensor& got, const at::Tensor& expected,
                               const at::Tensor& ranked, std::int64_t dimension);

// Puts the indices of the candidate's tensors in place of the reference's, and of those in float64, where both
// name equal numbers of the reference. Returns false if the candidate has a list that is no order.
bool take_order_of_ties(const Sides& sides, const tensors::TensorTable& candidate,
                        const tensors::TensorTable& exact);

}  // namespace tritonsmith::gym::trial
