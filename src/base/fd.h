// Fd: a file descriptor that its destructor closes, and functions that make descriptors. Every
// descriptor is close-on-exec: a child gets only those that base/process.h gives it. Making one
// fails when the process or the machine is out of descriptors.
#pragma once

#include <filesystem>
#include <utility>

#include "base/error.h"

namespace tritonsmith {

class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }
  void reset();
  // The caller owns the descriptor afterwards.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

struct Pipe {
  Fd read, write;
};
Result<Pipe> make_pipe();

// Two connected Unix stream sockets.
struct SocketPair {
  Fd ours, theirs;
};
Result<SocketPair> make_socket_pair();

Result<Fd> open_fd(const std::filesystem::path& path, int flags);
Status set_nonblocking(const Fd& fd);

}  // namespace tritonsmith
