// Makes rows of truth values, or of numbers that a task turns into truth values, all alike but for one
// element. A task that asks whether any or all of a row hold then meets both answers, and one element
// decides.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gym/device/device.h"
#include "gym/plan/analysis/input_draws.h"

namespace tritonsmith::gym::trial {

// `numbers` are the values to make rows of; without any they are false and true. The first of `places`
// is the trial's variant, with which the turn of values and places begins. The second is the dimension
// along which rows run; without it, all elements are one row. With a reach all rows hold the first
// number alone, so that another input decides.
void put_truths(at::Tensor& tensor, const device::InputChange& change);

// Returns values on each side of the numbers with which forward compares, and these numbers. `whole` is
// the draw of whole numbers whose values they must be, or null.
std::vector<double> values_around(std::vector<double> bounds,
                                  const plan::analysis::InputDraw* whole);

}  // namespace tritonsmith::gym::trial
