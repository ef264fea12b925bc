// HttpServer: the Service on a TCP socket, through cpp-httplib. Each connection has its own thread
// and serves one request. One more thread answers 503 to connections beyond the limit, and the
// system's listen queue holds those beyond that, so no queue here grows. A request with a wrong
// token, size or form is refused before its body is read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "gym/api/token.h"
#include "gym/service/http/access.h"
#include "gym/service/http/access_log.h"
#include "gym/service/service.h"

namespace tritonsmith::gym::service {

struct HttpServerConfig {
  api::HostAndPort address;   // port 0: any free port
  std::vector<Token> tokens;  // empty: everybody may use the service
  int connections = 256;
  int streams = 128;  // connections that may be streams
  std::size_t body_bytes = std::size_t{32} << 20;
  int idle_seconds = 10;  // a client that neither sends nor reads for so long is cut off
  AccessLogForm access_log = AccessLogForm::off;
  // called from any thread; empty: to stdout
  std::function<void(const std::string& line)> write_access_log;
};

class HttpServer {
 public:
  // Fails with one line if the address is taken or not available.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerConfig& config, Service& service,
                                                   ServiceMetrics& metrics);
  // Ends streams and waits, and closes the socket.
  ~HttpServer();
  int port() const { return port_; }

 private:
  struct Library;  // keeps httplib.h out of this header
  HttpServer(const HttpServerConfig& config, Service& service, ServiceMetrics& metrics);

  Service& service_;
  std::unique_ptr<Library> library_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::service
