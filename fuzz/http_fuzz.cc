// Fuzzes data that strangers send over HTTP: bodies of submissions and of KernelGYM's /evaluate,
// and event streams that a service sends to clients. The first byte chooses. Accepted data must
// survive being written and read again, and keep its name.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/event_stream.h"
#include "gym/api/token.h"
#include "gym/service/kernelgym.h"

namespace {

using namespace tritonsmith;
using namespace tritonsmith::gym;

void check_again(const api::Submission& submission) {
  const auto json = parse_json(to_line(api::to_json(submission)));
  CHECK(json.has_value(), "{}", json.error().message);
  const auto again = api::submission_from_json(*json);
  CHECK(again.has_value(), "{}", again.error().message);
  CHECK(api::job_name(*again) == api::job_name(submission), "another job came back");
}

void read_events(std::string_view bytes) {
  constexpr std::size_t most = 4096;
  const std::size_t step = bytes.empty() ? 1 : 1 + static_cast<unsigned char>(bytes.front());
  EventStreamReader reader(
      [](const ServerEvent& event) { CHECK(event.data.size() <= most, "an event too large"); },
      most);
  for (std::size_t at = 0; at < bytes.size(); at += step)
    if (!reader.feed(bytes.substr(at, step))) return;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      if (const auto parsed = api::parse_submission_body(body))
        for (const api::Submission& submission : parsed->submissions) check_again(submission);
      break;
    case 1:
      if (const auto parsed = service::parse_kernelgym_request(body))
        check_again(parsed->submission);
      break;
    case 2:
      read_events(body);
      break;
    default:
      static_cast<void>(api::parse_host_and_port(body));
  }
  return 0;
}
