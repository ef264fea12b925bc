// Blocks: how tensors' bytes follow a message between referee, client and Python reference. The
// message says how many bytes each block has; each then comes in frames of at most kPieceBytes, so
// that whoever only passes them on holds one piece at a time. Fails as frames do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::referee {

inline constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

// The member "blocks" of a message; absent: none. Refuses sizes that cannot be.
Result<std::vector<std::size_t>> block_sizes(const Json& message);

wire::FrameResult<void> write_block(int socket, std::span<const char> bytes, Deadline deadline);
// Fills all of `into`.
wire::FrameResult<void> read_block(int socket, std::span<char> into, Deadline deadline);

// Reads the blocks from one socket and writes them to the other. Where the other no longer takes
// them (or is negative), they are still read, so that the sender can go on.
struct Passed {
  bool read = true, written = true;
};
Passed pass_blocks(std::span<const std::size_t> sizes, int from, int to, Deadline deadline);

}  // namespace tritonsmith::gym::referee
