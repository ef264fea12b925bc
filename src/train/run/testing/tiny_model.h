// Makes a model directory that is small enough to train in a test: a tokenizer of bytes and ChatML
// tokens, and a random decoder for it.
#pragma once

#include <filesystem>

#include "base/check.h"
#include "model/checkpoint/checkpoint.h"
#include "text/tokenizer.h"

namespace tritonsmith::train {

inline void make_tiny_model(const std::filesystem::path& directory, std::uint64_t seed = 3,
                            std::int64_t positions = 128) {
  const std::vector<std::string> corpus = {"x"};
  const auto tokenizer = text::Tokenizer::train(
      corpus, {.vocabulary_size = 258,
               .added_tokens = {{.content = "<|im_start|>", .special = true},
                                {.content = "<|im_end|>", .special = true}}});
  CHECK(tokenizer, "{}", tokenizer.error().message);
  const model::ModelConfig config{.vocab_size = static_cast<std::int64_t>(tokenizer->id_limit()),
                                  .hidden_size = 16,
                                  .intermediate_size = 32,
                                  .num_hidden_layers = 1,
                                  .num_attention_heads = 2,
                                  .num_key_value_heads = 1,
                                  .head_dim = 8,
                                  .max_position_embeddings = positions,
                                  .initializer_range = 0.1};
  const Status saved = model::save_model(model::Transformer::random(config, seed), directory);
  CHECK(saved, "{}", saved.error().message);
  const Status written = tokenizer->save(directory / "tokenizer.json");
  CHECK(written, "{}", written.error().message);
}

}  // namespace tritonsmith::train
