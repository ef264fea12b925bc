#include "serve/web/web_server.h"

#include <httplib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "gym/service/http/connection_threads.h"
#include "gym/service/http/listening.h"
#include "gym/service/http/upgrading_server.h"
#include "serve/web/whole_page.h"

namespace tritonsmith::serve::web {
namespace {

using openai::CallError;
using openai::ReplyStream;

// How long a reply may wait for its next part before it looks whether the client is still there.
constexpr Milliseconds kLook{200};

// The name of the key of the request that this thread serves.
thread_local std::string owner;

// Lets the engine's threads go first where processors are scarce. A step of the engine on a CPU waits
// for the last of its threads, so a thread that writes a reply must not displace one. Linux
// gives each thread a priority of its own, and only a privileged one may raise it again. So a thread
// that has stepped back stays there, whatever its next connections ask.
void step_back() {
  static thread_local bool has_stepped_back = false;
  if (std::exchange(has_stepped_back, true)) return;
  constexpr int steps = 10;
  ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + steps);
}

// The page runs no code but its own, and no other page may show or call it.
void add_security(httplib::Response& response) {
  response.set_header("Content-Security-Policy", whole_page().policy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cache-Control", "no-store");
}

void send(WebReply reply, httplib::Response& response) {
  response.status = reply.status;
  if (reply.retry_after_seconds > 0)
    response.set_header("Retry-After", std::to_string(reply.retry_after_seconds));
  if (!reply.allow.empty()) response.set_header("Allow", reply.allow);
  response.set_content(reply.body, reply.content_type);
}

// A page of another origin must not use the caller's browser against a server on his machine.
bool is_foreign(const httplib::Request& request) {
  const std::string origin = request.get_header_value("Origin");
  if (origin.empty()) return false;
  const std::size_t host = origin.find("://");
  return host == std::string::npos || origin.substr(host + 3) != request.get_header_value("Host");
}

}  // namespace

struct WebServer::Library {
  Library(const WebServerConfig& own, const Routes& answers)
      : config(own), access(own.tokens), routes(answers), server(own.idle_seconds, own.body_bytes) {
    server.new_task_queue = [this] {
      return new gym::service::ConnectionThreads(config.connections);
    };
    server.set_keep_alive_max_count(1);  // a refused request's body is not read
    server.set_read_timeout(config.idle_seconds);
    server.set_write_timeout(config.idle_seconds);
    server.set_payload_max_length(config.body_bytes);
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          if (request.path.starts_with("/v1/")) step_back();
          add_security(response);
          owner.clear();
          auto refused = refuse(request);
          const bool is_usual =
              request.method == "GET" || request.method == "HEAD" || request.method == "POST";
          if (!refused && is_usual && !gym::service::lacks_body(request))
            return httplib::Server::HandlerResponse::Unhandled;
          if (refused)
            send(refusal(*refused), response);
          else
            reply({.method = request.method, .path = request.path, .owner = owner}, response);
          return httplib::Server::HandlerResponse::Handled;
        });
    const std::string everything = ".*";
    server.Get(everything, [this](const httplib::Request& request, httplib::Response& response) {
      reply({.method = request.method, .path = request.path, .owner = owner}, response);
    });
    server.Post(everything, [this](const httplib::Request& request, httplib::Response& response,
                                   const httplib::ContentReader& content) {
      WebCall call{.method = "POST", .path = request.path, .owner = owner};
      if (content([&](const char* data, std::size_t length) {
            call.body.append(data, length);
            return true;
          }))
        reply(call, response);
    });
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      send(refusal({.status = response.status,
                    .message = fmt::format("refused with HTTP status {}", response.status)}),
           response);
    });
    server.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
          send(refusal({.status = 500, .message = "this request broke the server's own rules"}),
               response);
        });
  }

  std::optional<CallError> refuse(const httplib::Request& request) {
    if (gym::service::ConnectionThreads::is_shedding())
      return CallError{.status = 503, .message = "too many connections; try again later"};
    if (!access.is_open() && !Routes::is_public(request.path)) {
      const auto* token = access.find(request.get_header_value("Authorization"));
      if (token == nullptr)
        return CallError{.status = 401,
                         .message = "send a known key as 'Authorization: Bearer KEY'",
                         .code = "invalid_api_key"};
      if (access.seconds_to_wait(*token) > 0)
        return CallError{.status = 429,
                         .message = fmt::format("the key '{}' allows {} requests a minute",
                                                token->name, token->requests_per_minute)};
      owner = token->name;
    }
    if (request.method != "POST") return std::nullopt;
    if (is_foreign(request))
      return CallError{.status = 403,
                       .message = "requests from pages of other origins are refused"};
    if (request.has_header("Content-Length") &&
        request.get_header_value<std::uint64_t>("Content-Length") > config.body_bytes)
      return CallError{
          .status = 413,
          .message = fmt::format("a body may have at most {} bytes", config.body_bytes)};
    return std::nullopt;
  }

  void reply(const WebCall& call, httplib::Response& response) {
    WebReply answered = routes.answer(call);
    if (!answered.stream) return send(std::move(answered), response);
    if (!answered.is_streamed) return send(whole(std::move(answered)), response);
    // std::function wants what can be copied.
    std::shared_ptr<ReplyStream> stream = std::move(answered.stream);
    response.set_chunked_content_provider(
        answered.content_type,
        [this, stream](std::size_t, httplib::DataSink& sink) { return pump(*stream, sink); });
  }

  // Waits for the end of a reply. Its stream ends where the client leaves, and gives the model back.
  WebReply whole(WebReply reply) const {
    const std::unique_ptr<ReplyStream> stream = std::move(reply.stream);
    for (;;) {
      const ReplyStream::State state = stream->next(reply.body, Deadline::after(kLook));
      if (state == ReplyStream::State::done) return reply;
      if (state == ReplyStream::State::broken) return refusal(stream->error());
      if (is_stopping) return refusal({.status = 503, .message = "the server is stopping"});
      if (!gym::service::UpgradingServer::has_client())
        return refusal({.status = 503, .message = "the client has left"});
    }
  }

  bool pump(ReplyStream& stream, httplib::DataSink& sink) const {
    std::string bytes;
    const ReplyStream::State state = stream.next(bytes, Deadline::after(kLook));
    if (!bytes.empty() && !sink.write(bytes.data(), bytes.size())) return false;
    if (state == ReplyStream::State::done) sink.done();
    return state == ReplyStream::State::done ||
           (state == ReplyStream::State::more && !is_stopping && sink.is_writable());
  }

  WebServerConfig config;
  gym::service::Access access;
  const Routes& routes;
  std::atomic<bool> is_stopping = false;
  gym::service::UpgradingServer server;
};

WebServer::WebServer(std::unique_ptr<Library> library) : library_(std::move(library)) {}

Result<std::unique_ptr<WebServer>> WebServer::start(const WebServerConfig& config,
                                                    const Routes& routes) {
  std::unique_ptr<WebServer> own(new WebServer(std::make_unique<Library>(config, routes)));
  TRY_ASSIGN(own->port_, gym::service::bind_server(own->library_->server, config.address));
  own->thread_ = gym::service::serve_in_thread(own->library_->server);
  return own;
}

WebServer::~WebServer() {
  library_->is_stopping = true;
  library_->server.stop();
}

}  // namespace tritonsmith::serve::web
