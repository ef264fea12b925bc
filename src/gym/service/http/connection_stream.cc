#include "gym/service/http/connection_stream.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace tritonsmith::gym::service {
namespace {

constexpr std::size_t kReadBytes = std::size_t{16} << 10;

template <typename Ask>
void read_address(int socket, const Ask& ask, std::string& ip, int& port) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  auto* plain = reinterpret_cast<sockaddr*>(&address);
  if (ask(socket, plain, &length) != 0) return;
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(plain, length, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST) == 0)
    ip = host.data();
  if (address.ss_family == AF_INET)
    port = ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  if (address.ss_family == AF_INET6)
    port = ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
}

}  // namespace

bool ConnectionStream::wait_for(short event, Milliseconds wait) const {
  const Deadline deadline = Deadline::after(wait);
  pollfd waiting{.fd = socket_, .events = event, .revents = 0};
  while (true) {
    const int ready = ::poll(&waiting, 1, deadline.poll_timeout());
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

bool ConnectionStream::is_readable() const {
  return !buffer_.empty() || wait_for(POLLIN, patience_);
}

// A client that has gone makes its socket readable, with nothing to read.
bool ConnectionStream::is_writable() const {
  char byte = 0;
  if (wait_for(POLLIN, Milliseconds(0)) && ::recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
    return false;
  return wait_for(POLLOUT, patience_);
}

ssize_t ConnectionStream::read(char* bytes, size_t size) {
  if (buffer_.empty() && read_some(buffer_, patience_) != Reading::some) return -1;
  const std::size_t count = std::min(size, buffer_.size());
  std::memcpy(bytes, buffer_.data(), count);
  buffer_.erase(0, count);
  return static_cast<ssize_t>(count);
}

ConnectionStream::Reading ConnectionStream::read_some(std::string& bytes, Milliseconds wait) {
  if (!buffer_.empty() && &bytes != &buffer_) {
    bytes += buffer_;
    buffer_.clear();
    return Reading::some;
  }
  if (!wait_for(POLLIN, wait)) return Reading::none;
  const std::size_t before = bytes.size();
  bytes.resize(before + kReadBytes);
  const ssize_t count = ::recv(socket_, bytes.data() + before, kReadBytes, 0);
  bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  if (count > 0) return Reading::some;
  return count < 0 && (errno == EINTR || errno == EAGAIN) ? Reading::none : Reading::gone;
}

ssize_t ConnectionStream::write(const char* bytes, size_t size) {
  if (is_muted_) return static_cast<ssize_t>(size);
  if (!wait_for(POLLOUT, patience_)) return -1;
  while (true) {
    const ssize_t count = ::send(socket_, bytes, size, MSG_NOSIGNAL);
    if (count >= 0 || errno != EINTR) return count;
  }
}

void ConnectionStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  read_address(socket_, ::getpeername, ip, port);
}

void ConnectionStream::get_local_ip_and_port(std::string& ip, int& port) const {
  read_address(socket_, ::getsockname, ip, port);
}

}  // namespace tritonsmith::gym::service
