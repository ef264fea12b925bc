#include "gym/service/http/listening.h"

#include <httplib.h>

#include <cerrno>
#include <cstring>

namespace tritonsmith::gym::service {

Result<int> bind_server(httplib::Server& server, const api::HostAndPort& address) {
  const auto& [host, wanted] = address;
  errno = 0;
  const int port = wanted == 0                         ? server.bind_to_any_port(host)
                   : server.bind_to_port(host, wanted) ? wanted
                                                       : -1;
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

}  // namespace tritonsmith::gym::service
