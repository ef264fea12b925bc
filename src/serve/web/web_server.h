// WebServer: the routes on a TCP socket, through cpp-httplib. Each connection has a thread, up to a
// limit; one more thread answers 503 to those beyond it. A request is refused before its body is
// read where its token, size or origin is wrong.
#pragma once

#include <memory>
#include <thread>

#include "gym/api/token.h"
#include "gym/service/http/access.h"
#include "serve/web/routes.h"

namespace tritonsmith::serve::web {

struct WebServerConfig {
  gym::api::HostAndPort address;            // port 0: any free port
  std::vector<gym::service::Token> tokens;  // empty: everybody may use the server
  int connections = 256;
  std::size_t body_bytes = std::size_t{8} << 20;
  int idle_seconds = 30;  // a client that neither sends nor reads for so long is cut off
};

class WebServer {
 public:
  // Fails with one line if the address is taken or not available.
  static Result<std::unique_ptr<WebServer>> start(const WebServerConfig& config,
                                                  const Routes& routes);
  // Ends the replies that run, waits for their connections, and closes the socket.
  ~WebServer();
  int port() const { return port_; }

 private:
  struct Library;  // keeps httplib.h out of this header
  explicit WebServer(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace tritonsmith::serve::web
