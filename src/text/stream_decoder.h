// StreamDecoder: turns tokens into text as they come, giving out whole characters only. The text of
// all pushes and finish() together is what Tokenizer::decode gives for all tokens at once. One
// thread per decoder.
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

  // The characters that this token completes; the beginning of an unfinished one is held back.
  std::string push(TokenId id);
  // What is still held back, as U+FFFD. The decoder may be used anew.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
};

// A text with the byte at which each token's share of it ends. A character made of several tokens
// belongs to the last.
struct DecodedText {
  std::string text;
  std::vector<std::size_t> token_ends;
};
DecodedText decode_with_ends(const Tokenizer& tokenizer, std::span<const TokenId> ids);

}  // namespace tritonsmith::text
