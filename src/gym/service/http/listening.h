// Makes a server of cpp-httplib listen. The HTTP servers of this program share it, and with it the
// options of their sockets.
#pragma once

#include <thread>

#include "base/error.h"
#include "gym/api/token.h"

namespace httplib {
class Server;
struct Request;
}  // namespace httplib

namespace tritonsmith::gym::service {

// Binds the server to an address, and returns the port. Port 0 takes any free one.
Result<int> bind_server(httplib::Server& server, const api::HostAndPort& address);
// Returns the thread that serves. From now on stop() ends it.
std::jthread serve_in_thread(httplib::Server& server);
// Says whether a request has no body although its method may have one. The library would wait for a
// body until the read timeout, so a server answers such a request before the library reads on.
bool lacks_body(const httplib::Request& request);

}  // namespace tritonsmith::gym::service
