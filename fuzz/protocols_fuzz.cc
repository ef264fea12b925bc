// Fuzzes what clients send to a service by the protocols of others. The first byte chooses: a message of MCP, with
// or without the headers of HTTP; the body of OpenRLHF or slime; a label; the frames or the handshake
// of a WebSocket. `routes_fuzz.cc` sends whole requests to the same endpoints.
// Any bytes are read or refused with a reason, and what a server would reply can be written.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "gym/service/http/web_socket.h"
#include "gym/service/http_call.h"
#include "serve/mcp/message.h"
#include "serve/rewards/requests.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::serve;

void read_message(std::string_view text, const mcp::Headers* headers) {
  const mcp::Message message = mcp::parse_message(text, headers);
  if (const auto* error = std::get_if<mcp::RpcError>(&message)) {
    const bool is_modern = error->era == mcp::Era::modern;
    CHECK(!error->message.empty() && (mcp::http_status_of(*error) >= 400) == is_modern,
          "refused without a reason");
    to_line(mcp::error_message(*error));
  }
  if (const auto* request = std::get_if<mcp::Request>(&message)) {
    CHECK(request->id.is_string() || request->id.is_number_integer(), "a request without an id");
    to_line(mcp::result_message(*request, Json::object()));
    mcp::legacy_version(request->params);
  }
}

void read_label(const Json& label) {
  static const Suite suite({Task{.id = "level1/19_ReLU", .source = "class Model: pass"}});
  if (const auto job = job_from_label(label, suite, {}))
    CHECK(!job->submission.job.task.source.empty(), "a job without a task");
}

void read_frames(std::string_view bytes) {
  constexpr std::size_t most = 4096;
  gym::service::WebSocketReader reader(most);
  const std::size_t step = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes.front());
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    reader.feed(bytes.substr(at, step));
    while (const auto message = reader.next())
      CHECK(message->payload.size() <= most, "a message too large");
    if (reader.fault()) return;
  }
}

// The text has a line for each header of the handshake.
void read_handshake(std::string_view text) {
  gym::service::HttpCall call{.method = "GET", .path = "/ws"};
  for (const char* name :
       {"sec-websocket-key", "origin", "upgrade", "connection", "sec-websocket-version"}) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    call.headers[name] = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto accepted = gym::service::web_socket_accept(call);
  constexpr std::size_t kDigest = 28;  // 20 bytes in base64
  CHECK(!accepted || accepted->size() == kDigest, "'{}' accepts no key", *accepted);
  gym::service::is_of_another_site(call);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const mcp::Headers headers = {{"mcp-protocol-version", std::string(mcp::kModernVersion)},
                                {"mcp-method", "tools/call"},
                                {"mcp-name", "=?base64?anVkZ2Vfa2VybmVs?="}};
  switch (data[0] % 7) {
    case 0:
      read_message(body, nullptr);
      break;
    case 1:
      read_message(body, &headers);
      break;
    case 2:
      if (const auto completions = completions_of_openrlhf(body))
        for (const Completion& completion : *completions) read_label(completion.label);
      break;
    case 3:
      if (const auto completion = completion_of_slime(body)) read_label(completion->label);
      break;
    case 4:
      read_label(std::string(body));
      break;
    case 5:
      read_frames(body);
      break;
    default:
      read_handshake(body);
  }
  return 0;
}
