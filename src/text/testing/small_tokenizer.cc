#include "text/testing/small_tokenizer.h"

#include "base/check.h"

namespace tritonsmith::text {

Tokenizer small_tokenizer(PieceRule pieces) {
  const std::vector<std::string> corpus(
      3,
      "import triton\nimport triton.language as tl\n\n@triton.jit\ndef kernel(x_ptr, n, BLOCK: "
      "tl.constexpr):\n"
      "    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    mask = offsets < n\n"
      "    x = tl.load(x_ptr + offsets, mask=mask)\n    tl.store(x_ptr + offsets, x, mask=mask)\n");
  TokenizerTraining training{.vocabulary_size = 500, .pieces = pieces};
  for (const char* special : {"<|endoftext|>", "<|im_start|>", "<|im_end|>"})
    training.added_tokens.push_back({.content = special, .special = true});
  for (const char* tag : {"<thinking>", "</thinking>", "<answer>", "</answer>"})
    training.added_tokens.push_back({.content = tag});
  auto tokenizer = Tokenizer::train(corpus, training);
  CHECK(tokenizer.has_value(), "{}", tokenizer.error().message);
  return *std::move(tokenizer);
}

std::vector<TokenId> byte_tokens(const Tokenizer& tokenizer, std::string_view text) {
  std::vector<TokenId> tokens;
  for (const char byte : text) {
    const auto one = tokenizer.encode(std::string(1, byte));
    CHECK(one.size() == 1, "'{}' is {} tokens", byte, one.size());
    tokens.push_back(one.front());
  }
  return tokens;
}

}  // namespace tritonsmith::text
