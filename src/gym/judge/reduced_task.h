// Makes a task smaller, for a measure of its trials that takes many runs. Tasks in KernelBench's
// style name their sizes in lines such as `batch_size = 128`, `M = 16384 * 2` or `height, width =
// 64, 64` at top level. These numbers become smaller. Only the smaller task's plan shows whether it
// is the same task. Pure.
#pragma once

#include <string>
#include <string_view>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::judge {

// Divides the whole numbers and products at top level by the divisor, and none of them below 16.
// Numbers below 32 stay: they are often kernel sizes, groups and heads. A number whose name begins
// with "batch" may become 4.
std::string with_sizes_divided(std::string_view source, std::int64_t divisor);

// Says whether forward calls the same operators on as many inputs and weights.
bool computes_alike(const plan::Plan& one, const plan::Plan& other);

// Returns the number of elements of all tensors of the plan.
std::int64_t elements_in(const plan::Plan& plan);

}  // namespace tritonsmith::gym::judge
