// Makes rows of truth values, or of numbers that a task turns into truth values, all alike but for one
// element. A task that asks whether any or all of a row hold then meets both answers, and one element
// decides.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gym/device/input_change.h"
#include "gym/plan/analysis/input_draws.h"

namespace tritonsmith::gym::trial {

void put_truths(at::Tensor& tensor, const device::pattern::Truths& truths, std::uint64_t seed);

// Returns values on each side of the numbers with which forward compares, and these numbers. `whole` is
// the draw of whole numbers whose values they must be, or null.
std::vector<double> values_around(std::vector<double> bounds,
                                  const plan::analysis::InputDraw* whole);

}  // namespace tritonsmith::gym::trial
