// Changes whole numbers that no generator drew, such as lengths, offsets and positions, so that they
// may still be what they are: none leaves the range of the former ones.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gym/device/device.h"

namespace tritonsmith::gym::trial {

// Changes the tensor in place. Zeros and ones may grow by up to the reach. `numbers` are the sizes of
// other inputs, which a sum of the numbers or their last one may have to keep. `places` are numbers that
// Python holds, such as a largest length, which no length may then exceed.
void change_whole_numbers(at::Tensor& tensor, const device::InputChange& change);

// One of the numbers that the tensor holds becomes another one of them. It is none of those that are put
// there afterwards, if another one is found.
void leave_one_out(at::Tensor& tensor, const std::vector<double>& put);

}  // namespace tritonsmith::gym::trial
