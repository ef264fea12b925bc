#include "generate/text_stream.h"

#include <algorithm>

namespace tritonsmith::generate {

bool TextStream::take(std::span<const TokenId> tokens) {
  for (; taken_ < tokens.size() && !is_found_; ++taken_) {
    const std::string piece = decoder_.push(tokens[taken_]);
    give(piece);
    is_found_ = search_.push(piece);
  }
  return is_found_;
}

void TextStream::finish(std::string_view text) { give(text.substr(std::min(given_, text.size()))); }

void TextStream::give(std::string_view piece) {
  given_ += piece.size();
  if (on_text_ && !piece.empty()) on_text_(piece);
}

}  // namespace tritonsmith::generate
