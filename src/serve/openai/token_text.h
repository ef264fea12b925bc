// TokenText: a token of a completion as a reader sees it: its part of the text, and its
// log-probability.
#pragma once

#include <string>
#include <vector>

#include "generate/writer.h"

namespace tritonsmith::serve::openai {

struct TokenText {
  std::string text;  // empty: of a character's token that is not its last one
  float logprob = 0;
};

// The tokens of a whole completion, without the one that ended it. Empty where the writer gives none.
std::vector<TokenText> token_texts(const generate::Written& written);

}  // namespace tritonsmith::serve::openai
