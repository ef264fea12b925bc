// Bends a table of floating-point numbers that no generator drew, such as a grid, distances, or cosines.
// Each size |v| becomes f(|v|), where f is one secret, strictly increasing function. So signs, zeros,
// the order and equal elements stay, and with them symmetries, sorted rows and repeated halves. A
// kernel that computes the table anew from one or two of its elements gets other numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tritonsmith::gym::trial {

// Changes the tensor in place. The least and the largest size other than 0 stay if others lie between
// them. Infinities, NaN and one size far beyond all others, such as the 1e9 of a mask, stay too. Whole
// numbers remain whole, and grow where the steps between them leave no room. If the table has one size
// only, all elements get one factor.
void bend_sizes(at::Tensor& tensor, std::uint64_t seed);

}  // namespace tritonsmith::gym::trial
