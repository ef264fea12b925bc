#include "base/fd.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tritonsmith {

void Fd::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail_errno("cannot make a pipe");
  return Pipe{.read = Fd(ends[0]), .write = Fd(ends[1])};
}

Result<SocketPair> make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("cannot make a socket pair");
  return SocketPair{.ours = Fd(ends[0]), .theirs = Fd(ends[1])};
}

Result<Fd> open_fd(const std::filesystem::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0644);
  if (fd < 0) return fail_errno(fmt::format("cannot open {}", path.string()));
  return Fd(fd);
}

Status set_nonblocking(const Fd& fd) {
  const int flags = ::fcntl(fd.get(), F_GETFL);
  if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) != 0)
    return fail_errno("cannot make a descriptor non-blocking");
  return ok();
}

}  // namespace tritonsmith
