// Assigns the sequences of an optimizer step to ranks. A rank takes whole sequences, and all ranks
// get about the same number of tokens. The functions are pure and give the same result on every
// rank. The assignment does not change the update, because the divisors are those of the whole
// step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tritonsmith::distributed {

// Returns the elements of `members` that `rank` takes, in their order. `costs` has one entry for
// each member. A single rank takes all of them.
std::vector<std::size_t> share_of(std::span<const std::size_t> members,
                                  std::span<const std::int64_t> costs, int rank, int size);

// A rank's contiguous part of a count of numbers. The lengths of all parts differ by at most one.
struct Range {
  std::size_t begin = 0, end = 0;
};
Range range_of(std::size_t count, int rank, int size);

}  // namespace tritonsmith::distributed
