// HttpCall and HttpReply: an HTTP request and its answer as data, without sockets.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"
#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

struct HttpCall {
  std::string method, path;
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // by name in lower case
  std::string body;
  Submitter submitter;       // the owner of the token that came with it
  bool is_operator = false;  // that token may change how the gym works

  // True for GET, and for HEAD, which is answered alike.
  bool gets() const { return method == "GET" || method == "HEAD"; }
  // Returns "" for a parameter that the query lacks.
  std::string parameter(const std::string& name) const;
  // Returns "" for a header that the call lacks. The name is in lower case.
  std::string header(const std::string& name) const;
};

// A reply's body that comes piece by piece. The thread of the connection owns it. Its destructor
// runs at its end, or soon after the client has gone.
class ReplyStream {
 public:
  virtual ~ReplyStream() = default;
  // Returns the next piece, which may be a sign of life, or "" at the end. Waits for at most
  // `patience`.
  virtual std::string next(Milliseconds patience) = 0;
};

// A conversation over a WebSocket, in texts. The thread of the connection owns it. Its destructor
// runs when either side has ended it, or the client has gone.
class WebSocketSession {
 public:
  virtual ~WebSocketSession() = default;
  // Takes a message of the client.
  virtual void take(std::string text) = 0;
  // Returns the next message for the client, or nothing if `patience` ends first.
  virtual std::optional<std::string> next(Milliseconds patience) = 0;
  // Tells whether next() may have a message without another one of the client.
  virtual bool is_busy() const = 0;
  virtual bool is_over() const = 0;
  // Returns the one message for a client that finds `most` streams open, in the protocol's own form.
  // Empty: the client gets status 503, and no WebSocket.
  virtual std::string no_room(int /*active*/, int /*most*/) const { return ""; }
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  int retry_after_seconds = 0;
  std::string allow;  // for status 405: the methods that the path has
  std::vector<std::pair<std::string, std::string>> headers;  // besides those above
  std::shared_ptr<ReplyStream> stream;                       // instead of a body
  std::shared_ptr<WebSocketSession> web_socket;              // instead of a body
};

// Returns the text with its ASCII letters in lower case.
std::string lower_case(std::string text);

HttpReply json_reply(int status, const Json& json);
// Returns {"error": {"code": "...", "message": "..."}}. The message is one line.
HttpReply error_reply(int status, std::string_view code, std::string_view message);

// Says whether a page of another site sent the call, through the browser of somebody who may use
// this service.
bool is_of_another_site(const HttpCall& call);

}  // namespace tritonsmith::gym::service
