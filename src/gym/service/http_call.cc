#include "gym/service/http_call.h"

namespace tritonsmith::gym::service {

std::string HttpCall::parameter(const std::string& name) const {
  const auto at = query.find(name);
  return at == query.end() ? std::string() : at->second;
}

HttpReply json_reply(int status, const Json& json) {
  return {.status = status, .body = to_line(json) + "\n"};
}

HttpReply error_reply(int status, std::string_view code, std::string_view message) {
  HttpReply reply =
      json_reply(status, {{"error", {{"code", code}, {"message", message}}}, {"detail", message}});
  if (status == 429 || status == 503) reply.retry_after_seconds = 1;
  return reply;
}

}  // namespace tritonsmith::gym::service
