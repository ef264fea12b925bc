// Fuzzes what a verifier reads. Any answer of a model gives a vote with a short reason, or none. Any
// kernel without its comments has the lines that it had.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "base/json.h"
#include "verifier/plain_source.h"
#include "verifier/questions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tritonsmith;
  const std::string text(reinterpret_cast<const char*>(data), size);
  constexpr std::size_t kLongest = 900;  // U+FFFD takes three bytes for one that is no UTF-8
  if (const auto answer = verifier::read_answer(text)) {
    CHECK(answer->reason.size() <= kLongest, "a reason of {} bytes", answer->reason.size());
    CHECK(answer->reason.find('\n') == std::string::npos, "a reason of several lines");
  }
  const std::string plain = verifier::without_comments(text);
  CHECK(std::ranges::count(plain, '\n') == std::ranges::count(text, '\n'), "lines are missing");
  CHECK(plain.size() <= text.size(), "a source that grew");
  return 0;
}
