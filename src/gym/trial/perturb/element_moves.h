// Moves single elements of a tensor.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/rng.h"

namespace tritonsmith::gym::trial {

// Moves of single elements, made all at once: on a GPU one operator costs as much as thousands of
// elements.
class ElementMoves {
 public:
  void add(std::int64_t position, double by) {
    at_.push_back(position);
    by_.push_back(static_cast<float>(by));
  }
  // If several moves name one element, one of them counts.
  void make(at::Tensor& all) const;

 private:
  std::vector<std::int64_t> at_;
  std::vector<float> by_;
};

// Returns a number from 0 to below `below`.
std::int64_t random_position(std::int64_t below, Rng& rng);

// Moves elements up and down in turn, two by up to twice `reach`, the next two by a fifth to four
// fifths of it, where an exponential is large and finite, and so on.
void move_some_elements(std::int64_t size, double reach, Rng& rng, ElementMoves& moves);

// Rows get one large element each, or one far below the others with a negative `reach`. The
// positions lie evenly from a random one on, so that no half of a row has them all.
void move_one_in_each(std::span<const std::int64_t> rows, std::int64_t length, double reach,
                      Rng& rng, ElementMoves& moves);

}  // namespace tritonsmith::gym::trial
