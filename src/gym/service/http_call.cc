#include "gym/service/http_call.h"

#include "gym/api/token.h"

namespace tritonsmith::gym::service {

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string HttpCall::parameter(const std::string& name) const {
  const auto at = query.find(name);
  return at == query.end() ? std::string() : at->second;
}

std::string HttpCall::header(const std::string& name) const {
  const auto at = headers.find(name);
  return at == headers.end() ? std::string() : at->second;
}

bool is_of_another_site(const HttpCall& call) {
  const std::string origin = call.header("origin");
  if (origin.empty()) return false;  // no browser
  const std::size_t scheme = origin.find("://");
  if (scheme == std::string::npos) return true;
  std::string host = origin.substr(scheme + 3);
  if (const std::size_t colon = host.rfind(':'); colon != std::string::npos && host.back() != ']')
    host = host.substr(0, colon);
  if (host.size() > 2 && host.front() == '[') host = host.substr(1, host.size() - 2);
  return !api::is_loopback(host);
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
