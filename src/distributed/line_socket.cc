#include "distributed/line_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

namespace tritonsmith::distributed {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses> addresses_of(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (code != 0) return fail("{}: {}", host, ::gai_strerror(code));
  return Addresses(found, &::freeaddrinfo);
}

void set_option(const Fd& socket, int level, int name, int value) {
  ::setsockopt(socket.get(), level, name, &value, sizeof value);
}

}  // namespace

Result<Listener> listen_anywhere() {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail_errno("cannot make a socket");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(socket.get(), any, size) != 0 || ::listen(socket.get(), 128) != 0 ||
      ::getsockname(socket.get(), any, &size) != 0)
    return fail_errno("cannot listen on a port");
  TRY(set_nonblocking(socket));
  return Listener{.socket = std::move(socket), .port = ntohs(address.sin_port)};
}

Result<Fd> accept_from(const Fd& listener) {
  Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) return fail_errno("cannot accept a connection");
  return socket;
}

Result<Fd> connect_to(const std::string& host, std::uint16_t port) {
  TRY_ASSIGN(const Addresses addresses, addresses_of(host, port));
  int last_error = EADDRNOTAVAIL;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    Fd socket(::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol));
    if (socket && ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0) return socket;
    last_error = errno;
  }
  return fail("cannot connect to {}:{}: {}", host, port, std::strerror(last_error));
}

std::string own_address(const Fd& connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  std::array<char, NI_MAXHOST> digits{};
  if (::getsockname(connection.get(), any, &size) != 0 ||
      ::getnameinfo(any, size, digits.data(), digits.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return digits.data();
}

void keep_alive(const Fd& connection) {
  set_option(connection, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(connection, IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set_option(connection, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(connection, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(connection, IPPROTO_TCP, TCP_USER_TIMEOUT, 20000);
  set_option(connection, IPPROTO_TCP, TCP_NODELAY, 1);
}

bool send_line(const Fd& connection, std::string_view line) {
  std::string text(line.substr(0, LineReader::kLongest - 1));
  std::ranges::replace(text, '\n', ' ');
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count =
        ::send(connection.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR) return false;
    sent += count > 0 ? static_cast<std::size_t>(count) : 0;
  }
  return true;
}

LineReader::State LineReader::read(const Fd& connection, std::vector<std::string>& lines) {
  std::array<char, kLongest> bytes{};
  State state = State::open;
  for (;;) {
    const ssize_t count = ::recv(connection.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (count <= 0) state = State::closed;
    if (count <= 0) break;
    rest_.append(bytes.data(), static_cast<std::size_t>(count));
    for (std::size_t end = 0; (end = rest_.find('\n')) != std::string::npos;) {
      lines.push_back(rest_.substr(0, end));
      rest_.erase(0, end + 1);
    }
    if (rest_.size() > kLongest) return State::closed;  // not a process of this job
  }
  return state;
}

}  // namespace tritonsmith::distributed
