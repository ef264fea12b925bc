// libFuzzer entry for tokenizer.json: a file up to a zero byte, followed by a text. An accepted
// file must encode any text. Decoding it token by token and at once must agree. After being written
// and read again it must be the same tokenizer. fuzz/CMakeLists.txt says how to build it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "text/stream_decoder.h"
#include "text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tritonsmith;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(input.find('\0'), size);
  const std::string_view text = input.substr(std::min(end + 1, size));
  const auto tokenizer = text::Tokenizer::from_json(input.substr(0, end));
  if (!tokenizer) return 0;
  const auto ids = tokenizer->encode(text);
  const std::string decoded = tokenizer->decode(ids);
  CHECK(text::decode_with_ends(*tokenizer, ids).text == decoded, "streamed otherwise");
  const auto again = text::Tokenizer::from_json(tokenizer->to_json());
  CHECK(again.has_value(), "{}", again.error().message);
  CHECK(again->encode(text) == ids, "another tokenizer after a round trip");
  return 0;
}
