// Frames: how the processes of the gym talk over Unix stream sockets: a 4-byte little-endian
// length, then that many bytes (JSON by custom; this layer does not look). Whoever reads names the
// largest frame it will take, and treats every byte as hostile: a false length, an end in mid-frame
// or silence is a typed fault, never a crash. read_frame and write_frame wait until a deadline;
// FrameReader and FrameWriter serve a poll loop.
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

// end: the other side closed between two frames. truncated: within one. too_large: the length
// exceeds the limit.
enum class FrameFault { end, truncated, too_large, timeout, system };

struct FrameError {
  FrameFault fault = FrameFault::system;
  Error error;
};
template <typename T>
using FrameResult = tl::expected<T, FrameError>;

struct Frame {
  std::string payload;
  std::vector<Fd> fds;  // that came with it; only read_frame with FrameFds::accepted takes any
};
// Descriptors that are not accepted are closed unseen by the kernel.
enum class FrameFds { refused, accepted };

FrameResult<Frame> read_frame(int socket, Deadline deadline, std::size_t max_bytes = kMaxFrameBytes,
                              FrameFds fds = FrameFds::refused);
FrameResult<void> write_frame(int socket, std::string_view payload, Deadline deadline,
                              std::span<const int> fds = {});

// Takes bytes as they come and gives whole frames.
class FrameReader {
 public:
  explicit FrameReader(std::size_t max_bytes = kMaxFrameBytes) : max_bytes_(max_bytes) {}

  // Reads what is there without waiting, one buffer at most. False at the end of the stream between
  // frames.
  FrameResult<bool> read_some(int socket);
  // The same from memory (tests, fuzzing).
  FrameResult<void> take(std::string_view bytes);
  std::optional<std::string> next();

 private:
  std::size_t max_bytes_;
  std::string pending_;
  std::deque<std::string> frames_;
};

// Holds frames until the socket takes them. Descriptors are given away once sent.
class FrameWriter {
 public:
  void add(std::string_view payload, std::vector<Fd> fds = {});
  // Writes what the socket takes without waiting. True when nothing is left.
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
