// A tokenizer trained on a few lines, for tests.
#pragma once

#include "text/tokenizer.h"

namespace tritonsmith::text {

// It has <|endoftext|>, <|im_start|> and <|im_end|> as special tokens, and the tags of answers as
// added tokens.
Tokenizer small_tokenizer(PieceRule pieces = PieceRule::lines);

}  // namespace tritonsmith::text
