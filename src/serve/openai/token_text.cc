#include "serve/openai/token_text.h"

#include <algorithm>

namespace tritonsmith::serve::openai {

std::vector<TokenText> token_texts(const generate::Written& written) {
  const Completion& completion = written.completion;
  std::vector<TokenText> tokens(std::min(written.token_ends.size(), completion.logprobs.size()));
  std::size_t begin = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::size_t end = written.token_ends[i];
    tokens[i] = {.text = completion.text.substr(begin, end - begin),
                 .logprob = completion.logprobs[i]};
    begin = end;
  }
  return tokens;
}

}  // namespace tritonsmith::serve::openai
