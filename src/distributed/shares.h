// How the sequences of an optimizer step are dealt to the ranks: each takes whole sequences, so
// that all have about as many tokens to compute. Pure, the same on every rank. The update does not
// depend on it: what divides is the same whoever computes which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tritonsmith::distributed {

// The members (of those given, in their order) that fall to `rank`. `costs`: one for each member.
// Alone, all of them.
std::vector<std::size_t> share_of(std::span<const std::size_t> members,
                                  std::span<const std::int64_t> costs, int rank, int size);

// A rank's part of so many numbers: contiguous, and as long as anybody else's but for one.
struct Range {
  std::size_t begin = 0, end = 0;
};
Range range_of(std::size_t count, int rank, int size);

}  // namespace tritonsmith::distributed
