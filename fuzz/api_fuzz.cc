// Fuzzes what a server of OpenAI's protocol sends to our client: event streams, whole answers,
// lists of models, errors and Retry-After headers; and the URL of such a server. The first byte
// chooses. An accepted answer must survive being stored and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "generate/api/api_config.h"
#include "generate/api/protocol.h"
#include "generate/api/retry.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::generate;

void check_again(const ApiReply& reply) {
  const auto json = parse_json(to_line(to_json(reply)));
  CHECK(json.has_value(), "{}", json.error().message);
  const auto again = stored_reply(*json);
  CHECK(again.has_value(), "{}", again.error().message);
  CHECK(again->finish == reply.finish && again->usage == reply.usage, "another answer came back");
}

void read_stream(std::string_view bytes) {
  std::string pieces;
  StreamedReply streamed([&](std::string_view piece) { pieces += piece; });
  bool is_good = true;
  EventStreamReader reader(
      [&](const ServerEvent& event) { is_good = is_good && streamed.take(event).has_value(); },
      4096);
  const std::size_t step = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes.front());
  for (std::size_t at = 0; at < bytes.size(); at += step)
    if (!reader.feed(bytes.substr(at, step))) return;
  const auto reply = streamed.finish();
  if (!reply || !is_good) return;
  CHECK(reply->text == pieces, "the pieces are not the text");
  check_again(*reply);
}

void read_whole(std::string_view bytes) {
  const auto json = parse_json(bytes);
  if (!json) return;
  if (const auto error = error_in(*json))
    for (const int status : {0, 400, 413, 429, 503})
      after({.status = status, .code = error->code, .message = error->message});
  if (const auto reply = reply_from_json(*json)) check_again(*reply);
  if (const auto models = models_from_json(*json))
    for (const ApiModel& each : *models)
      CHECK(!each.name.empty() && each.context_length.value_or(1) > 0, "no such model");
}

void read_retry(std::string_view bytes) {
  const std::size_t half = bytes.size() / 2;
  const auto wait =
      retry_after_seconds(std::string(bytes.substr(0, half)), std::string(bytes.substr(half)), 1e9);
  CHECK(wait.value_or(0) >= 0, "a wait in the past");
}

void read_url(std::string_view bytes) {
  const auto address = parse_api_url(bytes);
  if (!address) return;
  CHECK(address->origin.find_first_of("?#") == std::string::npos && !address->path.ends_with('/'),
        "no address of a server");
  const auto again = parse_api_url(address->origin + address->path);
  CHECK(again && again->origin == address->origin && again->path == address->path,
        "another address came back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      read_stream(body);
      break;
    case 1:
      read_whole(body);
      break;
    case 2:
      read_retry(body);
      break;
    default:
      read_url(body);
  }
  return 0;
}
