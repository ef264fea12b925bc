// HttpCall and HttpReply: an HTTP request and its answer as data, without sockets.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "gym/service/job_store.h"

namespace tritonsmith::gym::service {

struct HttpCall {
  std::string method, path;
  std::map<std::string, std::string> query;
  std::string last_event_id;  // the Last-Event-ID header
  std::string body;
  Submitter submitter;  // the owner of the token that came with it

  // True for GET, and for HEAD, which is answered alike.
  bool gets() const { return method == "GET" || method == "HEAD"; }
  // Returns "" for a parameter that the query lacks.
  std::string parameter(const std::string& name) const;
};

// Asks for the verdicts of one client, until no more are due or for ever.
struct StreamRequest {
  std::string client;
  std::int64_t after = 0;
  bool until_idle = false;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  int retry_after_seconds = 0;
  std::string allow;                    // for status 405: the methods that the path has
  std::optional<StreamRequest> stream;  // instead of a body
};

HttpReply json_reply(int status, const Json& json);
// Returns {"error": {"code": "...", "message": "..."}}. The message is one line.
HttpReply error_reply(int status, std::string_view code, std::string_view message);

}  // namespace tritonsmith::gym::service
