// Changes whole numbers that no generator drew, such as lengths, offsets and positions, so that they
// may still be what they are: none leaves the range of the former ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gym/device/input_change.h"

namespace tritonsmith::gym::trial {

// Changes the tensor in place. Sums that are sizes of other inputs stay, and no length exceeds one that
// Python holds.
void change_whole_numbers(at::Tensor& tensor, const device::pattern::Whole& whole,
                          std::uint64_t seed);

// One of the numbers that the tensor holds becomes another one of them. It is none of those that are put
// there afterwards, if another one is found.
void leave_one_out(at::Tensor& tensor, const std::vector<double>& put);

}  // namespace tritonsmith::gym::trial
