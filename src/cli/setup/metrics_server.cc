#include "cli/setup/metrics_server.h"

#include <httplib.h>

#include <thread>

#include "base/log.h"
#include "gym/api/token.h"

namespace tritonsmith::cli {
namespace {

class HttplibMetricsServer : public MetricsServer {
 public:
  explicit HttplibMetricsServer(std::function<std::string()> text) {
    server_.Get("/metrics", [text = std::move(text)](const auto&, httplib::Response& reply) {
      reply.set_content(text(), "text/plain; version=0.0.4");
    });
  }
  ~HttplibMetricsServer() override { server_.stop(); }

  Status listen(const gym::api::HostAndPort& address) {
    if (!server_.bind_to_port(address.host, address.port))
      return fail("--metrics: cannot listen on {}:{}; is the port taken?", address.host,
                  address.port);
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();  // or else stop() would come too early
    return ok();
  }

 private:
  httplib::Server server_;
  std::jthread thread_;
};

}  // namespace

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address,
                                                            std::function<std::string()> text) {
  TRY_ASSIGN(const auto where, gym::api::parse_host_and_port(address));
  auto server = std::make_unique<HttplibMetricsServer>(std::move(text));
  TRY(server->listen(where));
  LOG("gym: metrics at http://{}:{}/metrics", where.host, where.port);
  return std::unique_ptr<MetricsServer>(std::move(server));
}

}  // namespace tritonsmith::cli
