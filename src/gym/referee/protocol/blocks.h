// Blocks: the bytes of tensors that follow a message between referee, client and Python reference.
// The message says how many bytes each block has. Each block comes in frames of at most
// kPieceBytes, so that a process that only relays blocks holds one piece at a time. Errors are
// those of frames.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/json.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::referee {

inline constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

// Returns the sizes in the member "blocks" of a message, in bytes; none if the member is absent.
// Fails on impossible sizes.
Result<std::vector<std::size_t>> block_sizes(const Json& message);

wire::FrameResult<void> write_block(int socket, std::span<const char> bytes, Deadline deadline);
// Fills all of `into`.
wire::FrameResult<void> read_block(int socket, std::span<char> into, Deadline deadline);

// Reads the blocks from one socket and writes them to the other. If the other socket no longer
// takes them (or is negative), the blocks are still read, so that the sender can go on.
struct Passed {
  bool read = true, written = true;
};
Passed pass_blocks(std::span<const std::size_t> sizes, int from, int to, Deadline deadline);

}  // namespace tritonsmith::gym::referee
