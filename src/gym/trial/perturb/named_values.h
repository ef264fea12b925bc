// Single elements at named places: at the last index and in the middle of each dimension, and at the
// places that the candidate's code names. Each stands in a row of its own, so that a reduction that
// leaves the place out is wrong there.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

#include "gym/device/device.h"

namespace tritonsmith::gym::trial {

// Puts the values there in turn. At most half of the rows change. NaN and infinities that such a row
// held before become 0.5.
void put_in_rows(at::Tensor& tensor, const device::InputChange& change,
                 std::span<const double> values);

// Puts the least and the largest numbers of a draw there, between the change's first two numbers. Each is
// alone the row's least or largest. If the draw has room for it, no two of them are equal. The pattern
// `extremes` does nothing without that room.
void put_extremes(at::Tensor& tensor, const device::InputChange& change);

}  // namespace tritonsmith::gym::trial
