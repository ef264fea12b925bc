// StreamDecoder: converts tokens into text as they arrive, in whole characters only. The texts of
// all pushes and of finish() together equal Tokenizer::decode of all tokens. One thread uses a
// decoder.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "text/tokenizer.h"

namespace tritonsmith::text {

class StreamDecoder {
 public:
  // The tokenizer must outlive the decoder.
  explicit StreamDecoder(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  // Returns the characters that this token completes. The beginning of an unfinished character is
  // kept back.
  std::string push(TokenId id);
  // Returns the bytes kept back, as U+FFFD. The decoder can be used again.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
};

// A text with the byte at which each token's part of it ends. A character made of several tokens
// belongs to the last one.
struct DecodedText {
  std::string text;
  std::vector<std::size_t> token_ends;
};
DecodedText decode_with_ends(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace tritonsmith::text
