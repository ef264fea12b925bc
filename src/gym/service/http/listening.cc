#include "gym/service/http/listening.h"

#include <httplib.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace tritonsmith::gym::service {

Result<int> bind_server(httplib::Server& server, const api::HostAndPort& address) {
  const auto& [host, wanted] = address;
  const auto listening = std::make_shared<int>(-1);
  server.set_socket_options([listening](socket_t socket) {
    int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    *listening = socket;
  });
  server.set_tcp_nodelay(true);  // so a stream's next part does not wait for the client's receipt
  errno = 0;
  const int port = wanted == 0                         ? server.bind_to_any_port(host)
                   : server.bind_to_port(host, wanted) ? wanted
                                                       : -1;
  // The library lets 5 connections wait until they are accepted. Linux drops further ones, and
  // their clients try again a second later.
  if (port > 0) ::listen(*listening, SOMAXCONN);
  if (port > 0) return port;
  return fail("cannot listen on {}:{}: {}", host, wanted,
              errno == EADDRINUSE ? "another program does; choose another port, or end it"
              : errno != 0        ? std::strerror(errno)
                                  : "no such address here");
}

std::jthread serve_in_thread(httplib::Server& server) {
  std::jthread thread([&server] { server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::yield();  // until then, stop() would do nothing
  return thread;
}

bool lacks_body(const httplib::Request& request) {
  const bool may_have_one =
      request.method == "POST" || request.method == "PUT" || request.method == "PATCH";
  return may_have_one && !request.has_header("Content-Length");
}

}  // namespace tritonsmith::gym::service
