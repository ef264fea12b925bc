// Changes single elements at the last index and in the middle of each dimension, and at positions
// that a candidate's code names. Each stands in a row of its own, so that a reduction that leaves
// the position out is wrong there.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace tritonsmith::gym::trial {

// Returns those of the positions, and of the indices just before them, that lie in a dimension of
// this size. An index may appear twice.
std::vector<std::int64_t> indices_beside(std::span<const std::int64_t> positions,
                                         std::int64_t size);

struct NamedRows {
  std::uint64_t seed = 0;
  std::span<const std::int64_t> positions = {};  // indices along any dimension
};

// Puts the values there in turn. At most half of the rows change. NaN and infinities that such a row
// held before become 0.5.
void put_in_rows(at::Tensor& tensor, const NamedRows& rows, std::span<const double> values);

// Says what happens if a draw has no room for extremes that are all different.
enum class IfNarrow : std::uint8_t { nothing, equal_extremes };
// Puts the least and the largest numbers of a draw there, between the first two of `numbers`. Each is
// alone the row's least or largest. If the draw has room for it, no two of them are equal.
void put_extremes(at::Tensor& tensor, const NamedRows& rows, std::span<const double> numbers,
                  IfNarrow if_narrow);

}  // namespace tritonsmith::gym::trial
