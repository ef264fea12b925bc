// Fuzzes a model's completion. Any text gives one kernel or none, whose bytes and tokens lie within
// the text. Inspection of any source gives findings that can be written.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/json.h"
#include "inspect/inspect.h"
#include "text/extract.h"

namespace {

using namespace tritonsmith;

void inspect_as(std::string_view source, Policy policy) {
  for (const Finding& finding : inspect::inspect_kernel(source, policy)) {
    const auto json = parse_json(to_line(to_json(finding)));
    CHECK(json.has_value(), "{}", json.error().message);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<std::size_t> token_ends;  // every token has three bytes
  for (std::size_t end = 3; end < size; end += 3) token_ends.push_back(end);
  const Kernel kernel = text::extract_kernel(text, token_ends);
  CHECK(kernel.code_bytes.begin <= kernel.code_bytes.end && kernel.code_bytes.end <= size,
        "code outside of its text");
  CHECK(kernel.code_tokens.end <= token_ends.size(), "tokens that there are not");
  CHECK(kernel.source ==
            text.substr(kernel.code_bytes.begin, kernel.code_bytes.end - kernel.code_bytes.begin),
        "the source is not what stands there");
  inspect_as(kernel.source, Policy::strict);
  inspect_as(text, Policy::fused);
  return 0;
}
