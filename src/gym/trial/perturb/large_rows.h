// Makes rows of an input so large that what a task reduces them to passes a number far from it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "gym/device/input_change.h"

namespace tritonsmith::gym::trial {

// Returns factors above 1, the largest first. They lead reduced values of rows of this length past
// each of the bounds, which are sizes of elements: a sum may be `length` times as large as they are, and
// a mean only as large. No factor exceeds `most`.
std::vector<double> factors_past(std::span<const double> bounds, std::int64_t length, double most);

// Multiplies rows by the factors. The first factor has a row with only positive elements and one with
// only negative ones. If there is a single row, it gets the first factor.
void make_rows_large(at::Tensor& tensor, const device::pattern::LargeRows& large,
                     std::uint64_t seed);

}  // namespace tritonsmith::gym::trial
