// HttpServer: the Service on a TCP socket, through cpp-httplib. A connection has a thread of its
// own and serves one request; those beyond the limit are told 503 by one thread kept for that, and
// beyond those the listen queue holds them: no queue here grows. Bodies are refused before they are
// read where the token, the size or the form is wrong.
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
  api::HostAndPort address;   // port 0: any
  std::vector<Token> tokens;  // none: everybody may ask
  int connections = 256;
  int streams = 128;  // of them
  std::size_t body_bytes = std::size_t{32} << 20;
  int idle_seconds = 10;  // a client that neither sends nor takes anything for so long is left
  AccessLogForm access_log = AccessLogForm::off;
  std::function<void(const std::string& line)> write_access_log;  // any thread; empty: to stdout
};

class HttpServer {
 public:
  // Fails with one line when the address is taken or cannot be had.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerConfig& config, Service& service,
                                                   ServiceMetrics& metrics);
  // Ends streams and waits, and closes.
  ~HttpServer();
  int port() const { return port_; }

 private:
  struct Library;  // keeps httplib.h out of here
  HttpServer(const HttpServerConfig& config, Service& service, ServiceMetrics& metrics);

  Service& service_;
  std::unique_ptr<Library> library_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace tritonsmith::gym::service
