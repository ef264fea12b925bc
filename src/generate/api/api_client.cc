#include "generate/api/api_client.h"

#include <httplib.h>

#include "base/clock.h"
#include "base/printable.h"
#include "base/utc_time.h"

namespace tritonsmith::generate {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of an answer
constexpr std::size_t kMostShown = 300;                    // of a server's message

std::string one_line(std::string text) {
  if (text.size() > kMostShown) text = text.substr(0, kMostShown) + " ...";
  for (char& each : text)
    if (each == '\n' || each == '\r' || each == '\t') each = ' ';
  return printable(text);
}

ApiFailure broken(std::string message) { return {.message = one_line(std::move(message))}; }

ApiFailure failure_of(httplib::Error error, const std::string& origin) {
  ApiFailure failure =
      broken(fmt::format("no answer from {} ({})", origin, httplib::to_string(error)));
  if (error == httplib::Error::SSLServerVerification) {
    failure.is_final = true;
    failure.message = fmt::format(
        "the certificate of {} is not trusted; name the file of its authority with ca_file",
        origin);
  }
  if (error == httplib::Error::SSLLoadingCerts) {
    failure.is_final = true;
    failure.message = "the certificates of ca_file cannot be read";
  }
  return failure;
}

ApiFailure refusal(const httplib::Response& response, const std::string& body) {
  ApiFailure failure{.status = response.status};
  const auto json = parse_json(body);
  const auto error = json ? error_in(*json) : std::nullopt;
  failure.code = error ? error->code : "";
  failure.message = one_line(fmt::format("HTTP status {}{}", response.status,
                                         error           ? ": " + error->message
                                         : !body.empty() ? ": " + body
                                                         : ""));
  failure.retry_after_seconds = retry_after_seconds(response.get_header_value("Retry-After"),
                                                    response.get_header_value("retry-after-ms"),
                                                    static_cast<double>(unix_milliseconds()) / 1e3);
  return failure;
}

}  // namespace

struct ApiClient::Connection {
  explicit Connection(const std::string& origin) : http(origin) {}
  httplib::Client http;
};

// Gathers one answer's bytes: a stream of events where the server says so, else a body.
struct ApiClient::Answer {
  explicit Answer(const Listener& listener)
      : streamed(listener.on_text), reader([this](const ServerEvent& event) {
          if (status) status = streamed.take(event);
        }) {}

  bool take(std::string_view bytes) {
    size += bytes.size();
    if (size > kMostBytes) status = fail("the answer has more than {} bytes", kMostBytes);
    if (status && is_stream) {
      const Status fed = reader.feed(bytes);
      if (status) status = fed;
    } else if (status) {
      body += bytes;
    }
    return status.has_value();
  }

  StreamedReply streamed;
  EventStreamReader reader;
  httplib::Response head;
  Status status;
  std::string body;
  std::size_t size = 0;
  bool is_stream = false;
};

ApiClient::ApiClient(const ApiConfig& config, ApiAddress address, const std::string& key)
    : config_(config),
      address_(std::move(address)),
      connection_(std::make_unique<Connection>(address_.origin)) {
  httplib::Client& http = connection_->http;
  http.set_connection_timeout(config.connect_seconds);
  http.set_read_timeout(config.silence_seconds);
  http.set_write_timeout(config.silence_seconds);
  http.set_keep_alive(true);
  if (!key.empty()) http.set_bearer_token_auth(key);
  if (!config.ca_file.empty()) http.set_ca_cert_path(config.ca_file);
}

ApiClient::~ApiClient() = default;

tl::expected<ApiReply, ApiFailure> ApiClient::ask(const Json& body, const Listener& listener) {
  Answer answer(listener);
  const Deadline deadline = Deadline::in_seconds(config_.request_seconds);
  httplib::Request request;
  request.method = "POST";
  request.path = address_.path + std::string(path_of(config_.endpoint));
  request.headers = {{"Content-Type", "application/json"}, {"Accept", "*/*"}};
  request.body = to_line(body);
  request.response_handler = [&](const httplib::Response& response) {
    answer.head = response;
    answer.is_stream = response.status == 200 &&
                       response.get_header_value("Content-Type").starts_with("text/event-stream");
    return true;
  };
  request.content_receiver = [&](const char* data, std::size_t length, std::uint64_t,
                                 std::uint64_t) {
    if (listener.is_cancelled && listener.is_cancelled()) return false;
    if (deadline.passed())
      answer.status = fail("no whole answer within request_seconds = {}", config_.request_seconds);
    return answer.status && answer.take({data, length});
  };
  const httplib::Result sent = connection_->http.send(request);
  if (const auto& error = answer.streamed.error(); error && !answer.status) {
    ApiFailure failure = broken(error->message);
    failure.code = error->code;
    return tl::unexpected(std::move(failure));
  }
  if (!answer.status) return tl::unexpected(broken(answer.status.error().message));
  if (!sent) return tl::unexpected(failure_of(sent.error(), address_.origin));
  if (answer.head.status != 200) return tl::unexpected(refusal(answer.head, answer.body));
  if (answer.is_stream) {
    auto reply = answer.streamed.finish();
    if (!reply) return tl::unexpected(broken(reply.error().message));
    return *std::move(reply);
  }
  const auto json = parse_json(answer.body);
  if (!json) return tl::unexpected(broken("the answer is no JSON: " + json.error().message));
  if (const auto error = error_in(*json)) return tl::unexpected(broken(error->message));
  auto reply = reply_from_json(*json);
  if (!reply) return tl::unexpected(broken(reply.error().message));
  return *std::move(reply);
}

tl::expected<std::vector<ApiModel>, ApiFailure> ApiClient::models() {
  const httplib::Result reply = connection_->http.Get(address_.path + "/models");
  if (!reply) return tl::unexpected(failure_of(reply.error(), address_.origin));
  if (reply->status != 200) return tl::unexpected(refusal(*reply, reply->body));
  const auto json = parse_json(reply->body);
  if (!json)
    return tl::unexpected(broken("the list of models is no JSON: " + json.error().message));
  auto models = models_from_json(*json);
  if (!models) return tl::unexpected(broken(models.error().message));
  return *std::move(models);
}

void ApiClient::stop() { connection_->http.stop(); }

}  // namespace tritonsmith::generate
