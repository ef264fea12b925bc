#include "gym/referee/protocol/blocks.h"

#include <algorithm>
#include <cstring>

namespace tritonsmith::gym::referee {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 42;  // the limit for all blocks of a message

tl::unexpected<wire::FrameError> odd_piece() {
  return tl::unexpected<wire::FrameError>(
      wire::FrameError{wire::FrameFault::too_large, Error{"a piece does not fit its block"}});
}

}  // namespace

Result<std::vector<std::size_t>> block_sizes(const Json& message) {
  std::vector<std::size_t> sizes;
  const auto at = message.is_object() ? message.find("blocks") : message.end();
  if (!message.is_object() || at == message.end()) return sizes;
  if (!at->is_array()) return fail("'blocks' must be a list");
  std::size_t all = 0;
  for (const Json& size : *at) {
    if (!size.is_number_unsigned()) return fail("a block's size is a whole number");
    sizes.push_back(size.get<std::size_t>());
    if (sizes.back() > kMostBytes || (all += sizes.back()) > kMostBytes)
      return fail("the blocks exceed {} bytes", kMostBytes);
  }
  return sizes;
}

wire::FrameResult<void> write_block(int socket, std::span<const char> bytes, Deadline deadline) {
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
    const auto piece = bytes.subspan(begin, std::min(kPieceBytes, bytes.size() - begin));
    if (auto written = wire::write_frame(socket, {piece.data(), piece.size()}, deadline); !written)
      return written;
  }
  return {};
}

wire::FrameResult<void> read_block(int socket, std::span<char> into, Deadline deadline) {
  while (!into.empty()) {
    auto frame = wire::read_frame(socket, deadline, kPieceBytes);
    if (!frame) return tl::unexpected<wire::FrameError>(frame.error());
    const std::string& piece = frame->payload;
    if (piece.empty() || piece.size() > into.size()) return odd_piece();
    std::memcpy(into.data(), piece.data(), piece.size());
    into = into.subspan(piece.size());
  }
  return {};
}

Passed pass_blocks(std::span<const std::size_t> sizes, int from, int to, Deadline deadline) {
  Passed passed{.read = true, .written = to >= 0};
  for (const std::size_t size : sizes)
    for (std::size_t left = size; left > 0;) {
      const auto frame = wire::read_frame(from, deadline, kPieceBytes);
      passed.read = frame && !frame->payload.empty() && frame->payload.size() <= left;
      if (!passed.read) return passed;
      left -= frame->payload.size();
      if (passed.written)
        passed.written = static_cast<bool>(wire::write_frame(to, frame->payload, deadline));
    }
  return passed;
}

}  // namespace tritonsmith::gym::referee
