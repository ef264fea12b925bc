// Patterns: changes of single elements, rows and slices of a tensor, at places that follow from a
// secret seed. They show what one factor for a whole tensor hides: a kernel that looks at a sample,
// or that takes all rows to be alike. They draw from the generator of the tensor's device, which
// the caller seeds. The referee's thread calls them.
#pragma once

#include <ATen/core/Tensor.h>

#include "gym/device/device.h"

namespace tritonsmith::gym::trial {

// Changes the tensor in place. Its elements must have places of their own. The patterns are:
//   uneven    mixes rows of many kinds: zeros, one value, all moved up or down by a little, sorted
//             up and down, and ordinary ones. Some slices of the first two dimensions hold one
//             value. Single elements are moved up or down by up to twice `reach`, some of them at
//             the last index of each dimension. Without a reach only rows of the tensor's own values
//             are made.
//   ragged    gives elements very different sizes, up to `reach` times as large, and blocks of
//             neighbours too. So a part of a row says little about the rest.
//   noise     multiplies each element by a factor of its own between 0.5 and 3. Zeros get a number
//             in that range.
//   flips     exchanges two values of a mask at one element in eight.
//   sorted    puts all elements in ascending order.
//   skewed    gives most elements one and the same value, which was drawn. It then does as `extremes`.
//   ties      rounds elements to halves of 1 / `reach`, and puts `numbers` in the place of some.
//   near_all  makes each element the largest of `numbers`, or one of the seven whole numbers before it.
//   close     gives each element another value from 0.5 on, each the next that the type holds.
//   truths    makes rows of two values, of which one element decides whether any or all hold
//             (truth_rows.h).
//   ends      puts large elements, of about `reach`, at the last index of each dimension.
//   specials  puts NaN and both infinities in the place of a few elements, and one at each named place
//             (named_values.h).
//   extremes  puts `numbers` in the place of some elements, and the first two, the least and the largest,
//             at named places, as the only ones of their row.
//   small_rows  multiplies rows by `numbers` in turn (small_rows.h).
inline constexpr std::int64_t kMostNeighbours = 1 << 23;

void apply_pattern(const device::InputChange& change, at::Tensor& tensor);

// Returns the tensor itself if its elements have places of their own, or else all elements of its
// memory in one row.
at::Tensor changeable_view(const at::Tensor& tensor);

}  // namespace tritonsmith::gym::trial
