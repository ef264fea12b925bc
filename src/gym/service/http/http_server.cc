#include "gym/service/http/http_server.h"

#include <httplib.h>
#include <sys/socket.h>

#include <cstdio>

#include "base/utc_time.h"
#include "gym/service/http/connection_threads.h"
#include "gym/service/http/listening.h"
#include "gym/service/http/upgrading_server.h"

namespace tritonsmith::gym::service {
namespace {

constexpr auto kSignOfLife = std::chrono::seconds(5);

// The request that this thread serves. Each connection has a thread and serves one request.
struct Serving {
  std::int64_t unix_ms = 0;
  Stopwatch watch = Stopwatch();
  const Token* token = nullptr;
};
thread_local std::optional<Serving> serving;

void send(const HttpReply& reply, httplib::Response& response) {
  response.status = reply.status;
  if (reply.retry_after_seconds > 0)
    response.set_header("Retry-After", std::to_string(reply.retry_after_seconds));
  if (!reply.allow.empty()) response.set_header("Allow", reply.allow);
  for (const auto& [name, value] : reply.headers) response.set_header(name, value);
  response.set_content(reply.body, reply.content_type);
}

HttpCall call_of(const httplib::Request& request) {
  HttpCall call{.method = request.method, .path = request.path, .body = request.body};
  for (const auto& [name, value] : request.params) call.query.emplace(name, value);
  for (const auto& [name, value] : request.headers) call.headers.emplace(lower_case(name), value);
  if (const Token* token = serving ? serving->token : nullptr; token != nullptr)
    call.submitter = {.name = token->name, .unfinished = token->unfinished_jobs};
  // Without tokens, whoever reaches the service operates it.
  call.is_operator = !serving || serving->token == nullptr || serving->token->is_operator;
  return call;
}

std::string_view code_of_status(int status) {
  switch (status) {
    case 404:
      return "not_found";
    case 413:
      return "too_large";
    case 414:
      return "uri_too_long";
    default:
      return status >= 500 ? "internal" : "bad_request";
  }
}

// Tells a client of a WebSocket one thing. It stays until the client has said something, or for a few
// seconds: a socket that is closed with bytes unread may lose what was sent.
class LastWord : public WebSocketSession {
 public:
  explicit LastWord(std::string text) : text_(std::move(text)) {}
  void take(std::string) override { is_heard_ = true; }
  bool is_busy() const override { return !is_said_; }
  bool is_over() const override {
    constexpr double a_few_seconds = 5;
    return is_said_ && (is_heard_ || watch_.seconds() > a_few_seconds);
  }
  std::optional<std::string> next(Milliseconds) override {
    is_said_ = true;
    return text_;
  }

 private:
  std::string text_;
  Stopwatch watch_;
  bool is_said_ = false, is_heard_ = false;
};

}  // namespace

struct HttpServer::Library {
  Library(const HttpServerConfig& own, Service& answers, ServiceMetrics& counters)
      : config(own),
        access(own.tokens),
        service(answers),
        metrics(counters),
        server(own.idle_seconds, own.body_bytes) {
    server.new_task_queue = [this] { return new ConnectionThreads(config.connections); };
    // A connection that was refused with its body unread cannot go on, so none does.
    server.set_keep_alive_max_count(1);
    server.set_read_timeout(config.idle_seconds);
    server.set_write_timeout(config.idle_seconds);
    server.set_payload_max_length(config.body_bytes);
    // Only SO_REUSEADDR: with the library's SO_REUSEPORT a second service would take every other
    // connection instead of being told that the port is taken.
    server.set_pre_routing_handler(
        [this](const httplib::Request& request, httplib::Response& response) {
          serving.emplace(Serving{.unix_ms = unix_milliseconds()});
          const auto refusal = refuse(request);
          if (!refusal && !lacks_body(request)) return httplib::Server::HandlerResponse::Unhandled;
          if (refusal)
            send(*refusal, response);
          else
            reply(call_of(request), response);
          return httplib::Server::HandlerResponse::Handled;
        });
    const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
      reply(call_of(request), response);
    };
    const std::string everything = ".*";
    server.Get(everything, answer);
    // This code reads the body itself. Of a body that calls itself a form, as `curl -d` does, the
    // library reads only 8 KiB.
    const auto answer_with_body = [this](const httplib::Request& request,
                                         httplib::Response& response,
                                         const httplib::ContentReader& content) {
      HttpCall call = call_of(request);
      const bool whole = content([&](const char* data, std::size_t length) {
        call.body.append(data, length);
        return true;
      });
      if (whole) reply(call, response);
    };
    server.Post(everything, answer_with_body);
    server.Put(everything, answer_with_body);
    server.Patch(everything, answer_with_body);
    server.Delete(everything, answer);
    server.Options(everything, answer);
    server.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      send(error_reply(response.status, code_of_status(response.status),
                       fmt::format("refused with HTTP status {}", response.status)),
           response);
    });
    server.set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
          send(error_reply(500, "internal", "this request broke the server's own rules"), response);
        });
    server.set_logger([this](const httplib::Request& request, const httplib::Response& response) {
      metrics.count_reply(response.status);
      log_access(request, response);
      serving.reset();
    });
  }

  void log_access(const httplib::Request& request, const httplib::Response& response) const {
    if (config.access_log == AccessLogForm::off) return;
    AccessLogEntry entry{.unix_ms = unix_milliseconds(),
                         .address = request.remote_addr,
                         .method = request.method,
                         .target = request.target,
                         .status = response.status,
                         .bytes = response.body.size()};
    if (serving) {  // otherwise the request was no HTTP
      entry.unix_ms = serving->unix_ms;
      entry.token = serving->token != nullptr ? serving->token->name : "";
      entry.milliseconds = serving->watch.milliseconds();
    }
    const std::string line = access_log_line(entry, config.access_log);
    if (config.write_access_log) {
      config.write_access_log(line);
      return;
    }
    fmt::print("{}\n", line);
    std::fflush(stdout);
  }

  // Refuses callers without a valid token, or beyond the token's rate.
  std::optional<HttpReply> refuse_caller(const httplib::Request& request) {
    if (access.is_open()) return std::nullopt;
    const Token* token = access.find(request.get_header_value("Authorization"));
    serving->token = token;
    if (service.is_public(request.path)) return std::nullopt;
    if (token == nullptr)
      return error_reply(401, "unauthorized",
                         "send a known token as 'Authorization: Bearer TOKEN'");
    const int seconds = access.seconds_to_wait(*token);
    if (seconds == 0) return std::nullopt;
    HttpReply reply = error_reply(429, "too_many_requests",
                                  fmt::format("the token '{}' allows {} requests a minute; try "
                                              "again later",
                                              token->name, token->requests_per_minute));
    reply.retry_after_seconds = seconds;
    return reply;
  }

  // Refuses requests before their body is read.
  std::optional<HttpReply> refuse(const httplib::Request& request) {
    if (ConnectionThreads::is_shedding())
      return error_reply(503, "overloaded", "too many connections; try again later");
    if (auto refusal = refuse_caller(request)) return refusal;
    if (request.has_header("Transfer-Encoding"))
      return error_reply(411, "length_required", "send the body with a Content-Length");
    const std::string encoding = request.get_header_value("Content-Encoding");
    if ((!encoding.empty() && encoding != "identity") || request.is_multipart_form_data())
      return error_reply(415, "encoded_body", "send the body as it is");
    if (request.get_header_value<std::uint64_t>("Content-Length") > config.body_bytes)
      return error_reply(413, "too_large",
                         fmt::format("a body may have at most {} bytes", config.body_bytes));
    return std::nullopt;
  }

  void reply(const HttpCall& call, httplib::Response& response) {
    HttpReply reply = service.answer(call);
    if (reply.web_socket) {
      upgrade(call, std::move(reply.web_socket), response);
      return;
    }
    if (!reply.stream) {
      send(reply, response);
      return;
    }
    if (metrics.streams() >= config.streams) {
      send(error_reply(503, "overloaded", "too many streams; try again later"), response);
      return;
    }
    metrics.change_streams(1);
    response.set_header("Cache-Control", "no-store");
    for (const auto& [name, value] : reply.headers) response.set_header(name, value);
    response.set_chunked_content_provider(
        reply.content_type,
        [stream = std::move(reply.stream)](std::size_t, httplib::DataSink& sink) {
          const std::string text = stream->next(kSignOfLife);
          if (text.empty()) {
            sink.done();
            return true;
          }
          return sink.write(text.data(), text.size());
        },
        [this](bool) { metrics.change_streams(-1); });
  }

  // Turns the connection into a WebSocket, or refuses the handshake.
  void upgrade(const HttpCall& call, std::shared_ptr<WebSocketSession> session,
               httplib::Response& response) {
    const auto accept = web_socket_accept(call);
    if (!accept || is_of_another_site(call)) {
      send(accept ? error_reply(403, "forbidden", "pages of other sites may not connect")
                  : error_reply(426, "upgrade_required", accept.error().message),
           response);
      if (!accept) response.set_header("Upgrade", "websocket");
      return;
    }
    if (const int active = metrics.streams(); active >= config.streams) {
      std::string why = session->no_room(active, config.streams);
      if (why.empty()) {
        send(error_reply(503, "overloaded", "too many streams; try again later"), response);
        return;
      }
      response.status = 101;
      UpgradingServer::upgrade({.accept = *accept,
                                .session = std::make_shared<LastWord>(std::move(why)),
                                .at_end = [] {}});
      return;
    }
    metrics.change_streams(1);
    response.status = 101;
    UpgradingServer::upgrade({.accept = *accept, .session = std::move(session), .at_end = [this] {
                                metrics.change_streams(-1);
                              }});
  }

  HttpServerConfig config;
  Access access;
  Service& service;
  ServiceMetrics& metrics;
  UpgradingServer server;
};

HttpServer::HttpServer(const HttpServerConfig& config, Service& service, ServiceMetrics& metrics)
    : service_(service), library_(std::make_unique<Library>(config, service, metrics)) {}

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerConfig& config,
                                                      Service& service, ServiceMetrics& metrics) {
  std::unique_ptr<HttpServer> server(new HttpServer(config, service, metrics));
  TRY_ASSIGN(server->port_, bind_server(server->library_->server, config.address));
  server->thread_ = serve_in_thread(server->library_->server);
  return server;
}

HttpServer::~HttpServer() {
  service_.stop();
  library_->server.stop();
}

}  // namespace tritonsmith::gym::service
