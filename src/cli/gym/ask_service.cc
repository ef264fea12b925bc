#include "cli/gym/ask_service.h"

#include <httplib.h>

#include "gym/api/token.h"
#include "gym/remote/service_client.h"

namespace tritonsmith::cli {
namespace {

// A service says what is wrong in "error", a proxy before it perhaps nowhere.
std::string reason_of(const Json& reply, const std::string& body) {
  if (reply.is_object() && reply.contains("error") && reply["error"].is_object())
    return reply["error"].value("message", body);
  return reply.is_object() ? reply.value("detail", body) : body;
}

httplib::Result send(httplib::Client& client, const ServiceCall& call) {
  if (call.method == "POST") return client.Post(call.path, to_line(call.body), "application/json");
  if (call.method == "DELETE") return client.Delete(call.path);
  return client.Get(call.path);
}

}  // namespace

void add_service_options(CLI::App& command, std::string& url, std::string& token_file) {
  command.add_option("--url", url, "The address of the service, such as http://127.0.0.1:8800")
      ->required();
  command.add_option("--token-file", token_file,
                     "The file of the token (default: $TRITONSMITH_GYM_TOKEN)");
}

Result<Json> ask_service(const ServiceAddress& service, const ServiceCall& call) {
  TRY_ASSIGN(const auto asked, gym::api::service_url(service.url, service.token_file));
  TRY_ASSIGN(const auto client, gym::remote::service_client(asked));
  const auto reply = send(*client, call);
  if (!reply)
    return fail_by_fault(
        "{} does not answer (error: {}); is `tritonsmith gym serve` running there?", asked.url,
        httplib::to_string(reply.error()));
  auto json = parse_json(reply->body);
  if (!json) return fail_by_fault("{}: HTTP status {}, and no JSON", asked.url, reply->status);
  if (reply->status != 200)
    return fail("{}: HTTP status {}: {}", asked.url, reply->status, reason_of(*json, reply->body));
  return *std::move(json);
}

}  // namespace tritonsmith::cli
