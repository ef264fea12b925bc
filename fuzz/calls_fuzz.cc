// Fuzzes calls about completions. The first byte chooses the path, and the rest is the body. Any
// body is answered or refused with one line. An answer is JSON with one item for each request,
// and a reward in it is finite.
#include <array>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "serve/completion_calls.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using tritonsmith::serve::answer_completion_call;
  constexpr std::array<std::string_view, 4> paths = {"/v1/prompts", "/v1/extract", "/v1/feedback",
                                                     "/v1/rewards"};
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto answer = answer_completion_call(paths[data[0] % paths.size()], body);
  CHECK(answer, "a path of ours is not known");
  if (!*answer) {
    CHECK(!answer->error().message.empty(), "refused without a reason");
    return 0;
  }
  CHECK((*answer)->size() == 1 && (*answer)->begin()->is_array(), "an answer holds one list");
  const auto read = tritonsmith::parse_json(tritonsmith::to_line(**answer));
  CHECK(read, "an answer is no JSON");
  if (paths[data[0] % paths.size()] == "/v1/rewards")
    for (const auto& reward : *read->begin())
      CHECK(reward.is_null() || reward.at("total").is_number(), "a reward is no number");
  return 0;
}
