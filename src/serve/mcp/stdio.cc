#include "serve/mcp/stdio.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <list>
#include <mutex>
#include <thread>

namespace tritonsmith::serve::mcp {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(200);

// Writes whole lines, from any thread.
class LineOutput {
 public:
  explicit LineOutput(int descriptor) : descriptor_(descriptor) {}

  void send(const Json& message) {
    const std::string line = to_line(message) + "\n";
    const std::lock_guard lock(mutex_);
    for (std::size_t sent = 0; sent < line.size() && !is_broken_;) {
      const ssize_t count = ::write(descriptor_, line.data() + sent, line.size() - sent);
      if (count >= 0)
        sent += static_cast<std::size_t>(count);
      else if (errno != EINTR)
        is_broken_ = true;
    }
  }
  bool is_broken() const { return is_broken_; }

 private:
  int descriptor_;
  std::mutex mutex_;
  std::atomic<bool> is_broken_ = false;
};

// The calls that wait, each with its thread.
class Calls {
 public:
  Calls(LineOutput& output, int most) : output_(output), most_(static_cast<std::size_t>(most)) {}

  bool start(std::unique_ptr<PendingCall> call) {
    calls_.remove_if([](const Call& each) { return each.is_over->load(); });
    if (calls_.size() >= most_) return false;
    auto is_over = std::make_shared<std::atomic<bool>>(false);
    const Json id = call->request().id;
    calls_.push_back({.id = id,
                      .is_over = is_over,
                      .thread = std::jthread(
                          [this, is_over, call = std::move(call)](const std::stop_token& stop) {
                            run(*call, stop);
                            *is_over = true;
                          })});
    return true;
  }
  void cancel(const Json& id) {
    for (Call& call : calls_)
      if (call.id == id) call.thread.request_stop();
  }

 private:
  struct Call {
    Json id;
    std::shared_ptr<std::atomic<bool>> is_over;
    std::jthread thread;
  };

  void run(PendingCall& call, const std::stop_token& stop) {
    while (!call.is_done()) {
      if (stop.stop_requested() || output_.is_broken()) return call.cancel();
      if (const auto message = call.next(kLookEvery); message && !stop.stop_requested())
        output_.send(*message);
    }
  }

  LineOutput& output_;
  std::size_t most_;
  std::list<Call> calls_;
};

class Session {
 public:
  Session(const McpServer& server, const StdioConfig& config)
      : server_(server), config_(config), output_(config.output), calls_(output_, config.calls) {}

  Status run(const std::stop_token& stop) {
    std::string buffer(std::size_t{64} << 10, '\0');
    while (!stop.stop_requested() && !output_.is_broken()) {
      pollfd waiting{.fd = config_.input, .events = POLLIN, .revents = 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(kLookEvery.count()));
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      const ssize_t count = ::read(config_.input, buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return fail_errno("standard input");
      if (count == 0) return ok();
      take(std::string_view(buffer).substr(0, static_cast<std::size_t>(count)));
    }
    if (output_.is_broken()) return fail_by_fault("the client does not read any more");
    return ok();
  }

 private:
  void take(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const std::string_view part = bytes.substr(0, end);
      if (line_.size() + part.size() <= config_.line_bytes)
        line_ += part;
      else
        is_too_long_ = true;
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      end_line();
    }
  }

  void end_line() {
    if (is_too_long_)
      output_.send(error_message(
          {.code = kInvalidRequest,
           .message = fmt::format("a message may have at most {} bytes", config_.line_bytes)}));
    else if (line_.find_first_not_of(" \t\r") != std::string::npos)
      answer(line_);
    line_.clear();
    is_too_long_ = false;
  }

  void answer(std::string_view line) {
    const Message message = parse_message(line);
    if (const auto* error = std::get_if<RpcError>(&message)) {
      output_.send(error_message(*error));
    } else if (const auto* notification = std::get_if<Notification>(&message)) {
      if (notification->method == "notifications/cancelled" &&
          notification->params.contains("requestId"))
        calls_.cancel(notification->params["requestId"]);
    } else {
      answer(std::get<Request>(message));
    }
  }

  void answer(const Request& request) {
    McpServer::Answer answered = server_.answer(request, {});
    if (const auto* error = std::get_if<RpcError>(&answered)) {
      output_.send(error_message(*error));
    } else if (const auto* json = std::get_if<Json>(&answered)) {
      output_.send(*json);
    } else if (!calls_.start(std::move(std::get<std::unique_ptr<PendingCall>>(answered)))) {
      output_.send(error_message(
          {.code = kInternalError,
           .message = fmt::format("{} calls wait already; try again later", config_.calls),
           .id = request.id}));
    }
  }

  const McpServer& server_;
  StdioConfig config_;
  LineOutput output_;
  Calls calls_;
  std::string line_;
  bool is_too_long_ = false;
};

}  // namespace

Status serve_stdio(const McpServer& server, const StdioConfig& config, std::stop_token stop) {
  return Session(server, config).run(stop);
}

}  // namespace tritonsmith::serve::mcp
