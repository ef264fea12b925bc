#include "text/stream_decoder.h"

#include "text/unicode.h"

namespace tritonsmith::text {

std::string StreamDecoder::push(TokenId id) {
  held_ += tokenizer_.bytes_of(id);
  std::size_t whole = 0;
  while (whole < held_.size()) {
    const Utf8Step step = utf8_step(std::string_view(held_).substr(whole));
    if (step.cut_short) break;
    whole += step.bytes;
  }
  std::string out = repair_utf8(std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = repair_utf8(held_);
  held_.clear();
  return out;
}

DecodedText decode_with_ends(const Tokenizer& tokenizer, std::span<const TokenId> ids) {
  StreamDecoder decoder(tokenizer);
  DecodedText decoded;
  for (const TokenId id : ids) {
    decoded.text += decoder.push(id);
    decoded.token_ends.push_back(decoded.text.size());
  }
  decoded.text += decoder.finish();
  if (!decoded.token_ends.empty()) decoded.token_ends.back() = decoded.text.size();
  return decoded;
}

}  // namespace tritonsmith::text
