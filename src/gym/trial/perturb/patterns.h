// Patterns: changes of single elements, rows and slices of a tensor, at positions that follow from
// a secret seed. They show what one factor for a whole tensor hides: a kernel that looks at a
// sample, or that takes all rows to be alike. They draw from the generator of the tensor's device,
// which the caller seeds. The referee's thread calls them.
#pragma once

#include <ATen/core/Tensor.h>

#include "gym/device/input_change.h"

namespace tritonsmith::gym::trial {

// The pattern Close has room for so many elements.
inline constexpr std::int64_t kMostNeighbours = 1 << 23;

// Changes the tensor in place. Its elements must have addresses of their own. device/input_change.h
// says what each pattern does.
void apply_pattern(const device::InputChange& change, at::Tensor& tensor);

// Returns the tensor itself if its elements have addresses of their own, or else all elements of
// its memory in one row.
at::Tensor changeable_view(const at::Tensor& tensor);

}  // namespace tritonsmith::gym::trial
