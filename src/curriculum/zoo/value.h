// Value: a tensor within a module of the zoo: its shape, the meaning of its dimensions, and what is
// known of its elements. The operators' shape rules work on it.
#pragma once

#include <cstdint>
#include <vector>

namespace tritonsmith::curriculum::zoo {

using Shape = std::vector<int>;

// The meaning of the dimensions. rows: [B, D]. sequence: [B, T, D]. signal, image, volume:
// [B, C, ...] with one to three dimensions of space. other: any tensor.
enum class Layout { rows, sequence, signal, image, volume, other };

// The elements. unit: 0 to 1. signed_unit: -1 to 1. positive: above 0 or 0.
// negative: below 0 or 0. large: sums, whose
// absolute value may be far above 10.
enum class Range { any, unit, signed_unit, positive, negative, large };

struct Value {
  Shape shape;
  Layout layout = Layout::other;
  Range range = Range::any;
  // Normalised along some dimension, so that a sum along it may be a constant.
  bool normalised = false;
};

std::int64_t elements(const Shape& shape);
// [C, H, W] of [B, C, H, W]: the dimensions of space are those after the second.
inline int space_rank(Layout layout) {
  return layout == Layout::signal   ? 1
         : layout == Layout::image  ? 2
         : layout == Layout::volume ? 3
                                    : 0;
}
inline bool has_channels(Layout layout) { return space_rank(layout) > 0; }
// The layout of a tensor of channels with so many dimensions of space.
Layout channels_layout(int space);
// The layout of a tensor that only its number of dimensions describes.
Layout plain_layout(std::size_t rank);

// The shape that broadcasting gives; empty if the shapes do not fit.
Shape broadcast(const Shape& a, const Shape& b);

}  // namespace tritonsmith::curriculum::zoo
