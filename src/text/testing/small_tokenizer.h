// A tokenizer trained on a few lines, for tests that need one.
#pragma once

#include "text/tokenizer.h"

namespace tritonsmith::text {

// Has <|endoftext|>, <|im_start|> and <|im_end|> as special tokens and the tags of answers as added
// ones.
Tokenizer small_tokenizer(PieceRule pieces = PieceRule::lines);

}  // namespace tritonsmith::text
