// Trains a tokenizer on a few lines, for tests.
#pragma once

#include "text/tokenizer.h"

namespace tritonsmith::text {

// It has <|endoftext|>, <|im_start|> and <|im_end|> as special tokens, and the tags of answers as
// added tokens.
Tokenizer small_tokenizer(PieceRule pieces = PieceRule::lines);

// The text as one token a byte: tokens that a model may sample, but that encode() never gives for a
// text with merges in it. The text is ASCII.
std::vector<TokenId> byte_tokens(const Tokenizer& tokenizer, std::string_view text);

}  // namespace tritonsmith::text
