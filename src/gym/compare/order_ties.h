// Equal numbers have no one order. So an index into numbers in order may be another one than the
// reference's, if both name equal numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tritonsmith::gym::compare {

// Says for each list of indices along the dimension, in a dimension of size 1, whether it names numbers of
// `ranked`, and none of them twice.
at::Tensor are_orders(const at::Tensor& indices, const at::Tensor& ranked, std::int64_t dimension);
// Says for each element of two such lists whether both name equal numbers. In a list that is no order, none does.
at::Tensor names_equal_numbers(const at::Tensor& got, const at::Tensor& expected,
                               const at::Tensor& ranked, std::int64_t dimension);

}  // namespace tritonsmith::gym::compare
