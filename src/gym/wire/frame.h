// Frames: the messages between the gym's processes over Unix stream sockets. A frame is a 4-byte
// little-endian length and then that many bytes, usually JSON, which this layer does not parse. The
// reader sets the largest frame that it accepts and treats every byte as hostile. A false length,
// an end inside a frame or silence is a typed fault and never a crash. read_frame and write_frame
// block until a deadline. FrameReader and FrameWriter serve a poll loop.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/enum_names.h"
#include "base/fd.h"

namespace tritonsmith::gym::wire {

inline constexpr std::size_t kMaxFrameBytes = std::size_t{32} << 20;
inline constexpr std::size_t kMaxFrameFds = 8;

// end: the other side closed the socket between two frames. truncated: it closed inside a frame.
// too_large: the length exceeds the limit.
enum class FrameFault { end, truncated, too_large, timeout, system };

struct FrameError {
  FrameFault fault = FrameFault::system;
  Error error;
};
template <typename T>
using FrameResult = tl::expected<T, FrameError>;

struct Frame {
  std::string payload;
  // Descriptors that came with the frame. Only read_frame with FrameFds::accepted accepts any.
  std::vector<Fd> fds;
};
// The kernel closes descriptors that the reader does not accept.
enum class FrameFds { refused, accepted };

FrameResult<Frame> read_frame(int socket, Deadline deadline, std::size_t max_bytes = kMaxFrameBytes,
                              FrameFds fds = FrameFds::refused);
FrameResult<void> write_frame(int socket, std::string_view payload, Deadline deadline,
                              std::span<const int> fds = {});

// Collects bytes as they arrive and returns whole frames.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}

  // Reads one buffer at most, without blocking. Returns false when the stream ends between frames.
  FrameResult<bool> read_some(int socket);
  // Does the same with bytes from memory, for tests and fuzzing.
  FrameResult<void> take(std::string_view bytes);
  std::optional<std::string> next();

 private:
  std::size_t max_bytes_;
  std::string pending_;
  std::deque<std::string> frames_;
};

// Holds frames until the socket accepts them. The writer closes descriptors once they are sent.
class FrameWriter {
 public:
  void add(std::string_view payload, std::vector<Fd> fds = {});
  // Writes without blocking. Returns true when nothing is left.
  FrameResult<bool> write_some(int socket);
  bool empty() const { return frames_.empty(); }

 private:
  struct Outgoing {
    std::string bytes;
    std::size_t sent = 0;
    std::vector<Fd> fds;
  };
  std::deque<Outgoing> frames_;
};

}  // namespace tritonsmith::gym::wire

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::wire::FrameFault> =
    names<gym::wire::FrameFault>({{gym::wire::FrameFault::end, "end"},
                                  {gym::wire::FrameFault::truncated, "truncated"},
                                  {gym::wire::FrameFault::too_large, "too_large"},
                                  {gym::wire::FrameFault::timeout, "timeout"},
                                  {gym::wire::FrameFault::system, "system"}});
}  // namespace tritonsmith
