// Makes a server of cpp-httplib listen. The HTTP servers of this program share it, and with it the
// options of their sockets.
#pragma once

#include <thread>

#include "base/error.h"
#include "gym/api/token.h"

namespace httplib {
class Server;
}

namespace tritonsmith::gym::service {

// Binds the server to an address, and returns the port. Port 0 takes any free one.
Result<int> bind_server(httplib::Server& server, const api::HostAndPort& address);
// Returns the thread that serves. From now on stop() ends it.
std::jthread serve_in_thread(httplib::Server& server);

}  // namespace tritonsmith::gym::service
