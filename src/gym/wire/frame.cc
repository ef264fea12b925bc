#include "gym/wire/frame.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/check.h"

namespace tritonsmith::gym::wire {
namespace {

constexpr std::size_t kHeaderBytes = 4;

tl::unexpected<FrameError> fault(FrameFault kind, std::string message) {
  return tl::unexpected<FrameError>(FrameError{kind, Error{std::move(message)}});
}
tl::unexpected<FrameError> system_fault(std::string_view what) {
  return tl::unexpected<FrameError>(FrameError{FrameFault::system, fail_errno(what).value()});
}
tl::unexpected<FrameError> too_large(std::size_t length, std::size_t limit) {
  return fault(FrameFault::too_large,
               fmt::format("a frame of {} bytes is over the limit of {}", length, limit));
}
tl::unexpected<FrameError> truncated() {
  return fault(FrameFault::truncated, "the stream ended within a frame");
}

std::array<char, kHeaderBytes> header_of(std::size_t length) {
  CHECK(length <= UINT32_MAX, "a frame of {} bytes", length);
  std::array<char, kHeaderBytes> header{};
  for (std::size_t i = 0; i < kHeaderBytes; ++i) header[i] = static_cast<char>(length >> (8 * i));
  return header;
}
std::size_t length_of(const char* header) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < kHeaderBytes; ++i)
    length |= std::size_t{static_cast<unsigned char>(header[i])} << (8 * i);
  return length;
}

FrameResult<void> await(int socket, short events, Deadline deadline) {
  pollfd ready{.fd = socket, .events = events, .revents = 0};
  while (true) {
    const int count = ::poll(&ready, 1, deadline.poll_timeout());
    if (count > 0) return {};
    if (count == 0) return fault(FrameFault::timeout, "the other side did not answer in time");
    if (errno != EINTR) return system_fault("cannot wait for a socket");
  }
}

union Control {
  cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int) * kMaxFrameFds)];
};

void collect_fds(msghdr& message, std::vector<Fd>& fds) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      fds.emplace_back(fd);
    }
  }
}

// Returns the number of bytes received, 0 at the end of the stream, or -1 with errno set.
ssize_t receive(int socket, std::span<char> into, std::vector<Fd>* fds) {
  iovec piece{.iov_base = into.data(), .iov_len = into.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (fds != nullptr) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
  }
  ssize_t got = 0;
  while ((got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC)) < 0 &&
         errno == EINTR) {
  }
  if (got >= 0 && fds != nullptr) collect_fds(message, *fds);
  return got < 0 && errno == ECONNRESET ? 0 : got;
}

ssize_t send(int socket, std::string_view bytes, std::span<const int> fds) {
  iovec piece{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!fds.empty()) {
    CHECK(fds.size() <= kMaxFrameFds, "{} descriptors in one frame", fds.size());
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
  }
  ssize_t sent = 0;
  while ((sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL)) < 0 && errno == EINTR) {
  }
  return sent;
}

bool would_wait() { return errno == EAGAIN || errno == EWOULDBLOCK; }

FrameResult<void> read_exactly(int socket, std::span<char> into, Deadline deadline,
                               std::vector<Fd>* fds) {
  for (std::size_t done = 0; done < into.size();) {
    if (auto waited = await(socket, POLLIN, deadline); !waited) return waited;
    const ssize_t got = receive(socket, into.subspan(done), fds);
    if (got == 0)
      return done == 0 ? fault(FrameFault::end, "the other side closed the stream") : truncated();
    if (got < 0 && !would_wait()) return system_fault("cannot read a frame");
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return {};
}

}  // namespace

FrameResult<Frame> read_frame(int socket, Deadline deadline, std::size_t max_bytes,
                              FrameFds accept) {
  Frame frame;
  std::vector<Fd>* fds = accept == FrameFds::accepted ? &frame.fds : nullptr;
  char header[kHeaderBytes];
  if (auto read = read_exactly(socket, header, deadline, fds); !read)
    return tl::unexpected<FrameError>(read.error());
  const std::size_t length = length_of(header);
  if (length > max_bytes) return too_large(length, max_bytes);
  // The buffer grows with the bytes that really arrive. A length alone must not make the reader
  // allocate memory.
  constexpr std::size_t kStep = std::size_t{1} << 20;
  while (frame.payload.size() < length) {
    const std::size_t begin = frame.payload.size();
    frame.payload.resize(std::min(length, begin + kStep));
    auto read = read_exactly(socket, std::span(frame.payload).subspan(begin), deadline, fds);
    if (!read && read.error().fault == FrameFault::end) return truncated();
    if (!read) return tl::unexpected<FrameError>(read.error());
  }
  return frame;
}

FrameResult<void> write_frame(int socket, std::string_view payload, Deadline deadline,
                              std::span<const int> fds) {
  const auto header = header_of(payload.size());
  std::string bytes(header.data(), header.size());
  bytes += payload;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = send(socket, std::string_view(bytes).substr(done),
                              done == 0 ? fds : std::span<const int>{});
    if (sent < 0 && errno == EPIPE)
      return fault(FrameFault::end, "the other side closed the stream");
    if (sent < 0 && !would_wait()) return system_fault("cannot write a frame");
    if (sent > 0) done += static_cast<std::size_t>(sent);
    if (done == bytes.size()) break;
    if (auto waited = await(socket, POLLOUT, deadline); !waited) return waited;
  }
  return {};
}

FrameResult<bool> FrameReader::read_some(int socket) {
  char buffer[1 << 16];
  const ssize_t got = receive(socket, buffer, nullptr);
  if (got < 0 && would_wait()) return true;
  if (got < 0) return system_fault("cannot read a frame");
  if (got == 0 && !pending_.empty()) return truncated();
  if (got == 0) return false;
  auto taken = take(std::string_view(buffer, static_cast<std::size_t>(got)));
  if (!taken) return tl::unexpected<FrameError>(taken.error());
  return true;
}

FrameResult<void> FrameReader::take(std::string_view bytes) {
  pending_ += bytes;
  std::size_t begin = 0;
  while (pending_.size() - begin >= kHeaderBytes) {
    const std::size_t length = length_of(pending_.data() + begin);
    if (length > max_bytes_) return too_large(length, max_bytes_);
    if (pending_.size() - begin - kHeaderBytes < length) break;
    frames_.push_back(pending_.substr(begin + kHeaderBytes, length));
    begin += kHeaderBytes + length;
  }
  pending_.erase(0, begin);
  return {};
}

std::optional<std::string> FrameReader::next() {
  if (frames_.empty()) return std::nullopt;
  std::string frame = std::move(frames_.front());
  frames_.pop_front();
  return frame;
}

void FrameWriter::add(std::string_view payload, std::vector<Fd> fds) {
  const auto header = header_of(payload.size());
  Outgoing outgoing{.bytes = std::string(header.data(), header.size()), .fds = std::move(fds)};
  outgoing.bytes += payload;
  frames_.push_back(std::move(outgoing));
}

FrameResult<bool> FrameWriter::write_some(int socket) {
  while (!frames_.empty()) {
    Outgoing& first = frames_.front();
    std::vector<int> fds;
    for (const Fd& fd : first.fds) fds.push_back(fd.get());
    const ssize_t sent = send(socket, std::string_view(first.bytes).substr(first.sent), fds);
    if (sent < 0 && would_wait()) return false;
    if (sent < 0 && errno == EPIPE)
      return fault(FrameFault::end, "the other side closed the stream");
    if (sent < 0) return system_fault("cannot write a frame");
    first.fds.clear();
    first.sent += static_cast<std::size_t>(sent);
    if (first.sent == first.bytes.size()) frames_.pop_front();
  }
  return true;
}

}  // namespace tritonsmith::gym::wire
