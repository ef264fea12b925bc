// RewardServer: a server of rewards on this machine, whose answers a test's function gives. It keeps
// what it was asked.
#pragma once

#include <httplib.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"

namespace tritonsmith::reward {

class RewardServer {
 public:
  using Answer = std::function<void(int number, const Json& body, httplib::Response&)>;
  explicit RewardServer(Answer answer) : answer_(std::move(answer)) {
    server_.Post("/reward", [this](const httplib::Request& request, httplib::Response& response) {
      const Json body = Json::parse(request.body);
      int number = 0;
      {
        const std::lock_guard lock(mutex_);
        number = static_cast<int>(asked_.size());
        asked_.push_back(body);
        tokens_.push_back(request.get_header_value("Authorization"));
      }
      answer_(number, body, response);
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~RewardServer() { server_.stop(); }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/reward", port_); }
  std::vector<Json> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  std::vector<std::string> tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }

 private:
  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<Json> asked_;
  std::vector<std::string> tokens_;
  httplib::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

}  // namespace tritonsmith::reward
