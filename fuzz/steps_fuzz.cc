// Fuzzes the steps that hosts pass to each other through a store that strangers may write to. The
// first byte chooses the message: a request, a reply or an announcement. The second one chooses who
// wrote it. Only a text with the right seal is opened, whatever else the bytes are. What is opened is
// read or refused with a reason, and what was read means the same when it is written and read again.
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"
#include "gym/service/redis/sealed_text.h"
#include "gym/steps/step_message.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::gym;

constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";
constexpr std::string_view kName = "step-1";

enum class Writer { holder, stranger, of_another_step, of_another_purpose, changed, cut };

std::string sealed_by(Writer writer, std::string_view purpose, std::string_view text) {
  switch (writer) {
    case Writer::stranger:
      return std::string(text);  // whatever the bytes say
    case Writer::of_another_step:
      return service::seal(kKey, {purpose, "step-2"}, text);
    case Writer::of_another_purpose:
      return service::seal(kKey, {"verdict", kName}, text);
    default:
      break;
  }
  std::string sealed = service::seal(kKey, {purpose, kName}, text);
  if (writer == Writer::changed) sealed[text.size() % sealed.size()] ^= 1;
  if (writer == Writer::cut) sealed.pop_back();
  return sealed;
}

template <typename Message>
void read(const Json& json, Result<Message> (*from_json)(const Json&)) {
  const Result<Message> message = from_json(json);
  if (!message) {
    CHECK(!message.error().message.empty(), "refused without a reason");
    return;
  }
  const Json written = steps::to_json(*message);
  const auto parsed = parse_json(to_line(written));
  CHECK(parsed, "what was written is no JSON: {}", parsed.error().message);
  const Result<Message> again = from_json(*parsed);
  CHECK(again, "what was written is refused: {}", again.error().message);
  CHECK(to_line(steps::to_json(*again)) == to_line(written), "a message changed on its way");
  if constexpr (std::is_same_v<Message, steps::StepRequest>) {
    CHECK(steps::shared_name(*again) == steps::shared_name(*message), "its name changed");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  constexpr std::string_view purposes[] = {"request", "reply", "announcement"};
  const std::size_t kind = data[0] % std::size(purposes);
  const auto writer = static_cast<Writer>(data[1] % 6);
  const auto opened =
      service::open_sealed(kKey, {purposes[kind], kName}, sealed_by(writer, purposes[kind], text));
  CHECK(opened.has_value() == (writer == Writer::holder), "a seal that nobody with the key gave");
  if (!opened) return 0;
  CHECK(*opened == text, "another text than the sealed one");
  const auto json = parse_json(*opened);
  if (!json) return 0;
  if (kind == 0) read<steps::StepRequest>(*json, steps::step_request_from_json);
  if (kind == 1) read<steps::StepReply>(*json, steps::step_reply_from_json);
  if (kind == 2) read<steps::HostVersions>(*json, steps::host_versions_from_json);
  return 0;
}
