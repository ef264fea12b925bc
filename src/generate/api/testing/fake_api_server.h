// FakeApiServer: a server of OpenAI's protocol on this machine, whose answers a test's function
// gives. It counts the requests and keeps what it was asked.
#pragma once

#include <httplib.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/json.h"

namespace tritonsmith::generate {

// A request as the server read it. `number` counts from 0.
struct Asked {
  int number = 0;
  Json body;
  std::string path, authorization;
};

class FakeApiServer {
 public:
  using Answer = std::function<void(const Asked&, httplib::Response&)>;
  explicit FakeApiServer(Answer answer) : answer_(std::move(answer)) {
    const auto take = [this](const httplib::Request& request, httplib::Response& response) {
      Asked asked{.body = Json::parse(request.body),
                  .path = request.path,
                  .authorization = request.get_header_value("Authorization")};
      {
        const std::lock_guard lock(mutex_);
        asked.number = static_cast<int>(asked_.size());
        asked_.push_back(asked);
      }
      answer_(asked, response);
    };
    server_.Post("/v1/.*", take);
    server_.Get("/v1/models", [this](const httplib::Request&, httplib::Response& response) {
      response.status = models_status;
      response.set_content(models, "application/json");
    });
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~FakeApiServer() { server_.stop(); }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/v1"; }
  std::vector<Asked> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::string models = R"({"object":"list","data":[{"id":"small","max_model_len":4096}]})";
  int models_status = 200;

 private:
  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<Asked> asked_;
  httplib::Server server_;
  int port_ = 0;
  std::jthread thread_;
};

// "data: JSON", as a stream's event.
inline std::string event_of(const Json& json) { return "data: " + json.dump() + "\n\n"; }
inline Json piece_of(const std::string& text) {
  return {
      {"model", "small"},
      {"choices", {{{"index", 0}, {"delta", {{"content", text}}}, {"finish_reason", nullptr}}}}};
}
inline Json end_of(const std::string& reason) {
  return {{"choices", {{{"index", 0}, {"delta", Json::object()}, {"finish_reason", reason}}}}};
}

// Sends the pieces as events. `whole` ends the stream as it should be; otherwise it is cut.
inline void stream(httplib::Response& response, std::vector<std::string> events,
                   bool whole = true) {
  response.set_chunked_content_provider(
      "text/event-stream", [events = std::move(events), whole, at = std::size_t{0}](
                               std::size_t, httplib::DataSink& sink) mutable {
        if (at < events.size()) return sink.write(events[at].data(), events[at].size()), ++at, true;
        if (whole) sink.done();
        return whole;
      });
}

inline void stream_text(httplib::Response& response, const std::string& text) {
  stream(response, {event_of(piece_of(text)), event_of(end_of("stop")),
                    event_of({{"choices", Json::array()},
                              {"usage", {{"prompt_tokens", 10}, {"completion_tokens", 4}}}}),
                    "data: [DONE]\n\n"});
}

inline void refuse(httplib::Response& response, int status, const std::string& code,
                   const std::string& message) {
  response.status = status;
  response.set_content(Json{{"error", {{"code", code}, {"message", message}}}}.dump(),
                       "application/json");
}

}  // namespace tritonsmith::generate
