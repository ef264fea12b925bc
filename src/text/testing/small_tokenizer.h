// A tokenizer trained on a few lines, for tests that need one.
#pragma once

#include "text/tokenizer.h"

namespace tritonsmith::text {

// Has <|endoftext|>, <|im_start|> and <|im_end|> as special tokens and the tags of answers as added
// ones.
Tokenizer small_tokenizer(PieceRule pieces = PieceRule::lines);

// The text as one token a byte: tokens that a model may sample, but that encode() never gives for a
// text with merges in it. The text is ASCII.
std::vector<TokenId> byte_tokens(const Tokenizer& tokenizer, std::string_view text);

}  // namespace tritonsmith::text
