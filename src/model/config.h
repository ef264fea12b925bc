// ModelConfig: the shape of a Qwen2-family decoder, read from and written to Hugging Face's
// config.json. Reading refuses what the code does not compute (another architecture, scaled RoPE,
// sliding windows) in one line that names the file, rather than computing something else.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/config.h"

namespace tritonsmith::model {

// Names as in config.json. The defaults are the small model that the quickstart trains.
struct ModelConfig {
  std::int64_t vocab_size = 1024;
  std::int64_t hidden_size = 128;
  std::int64_t intermediate_size = 384;
  std::int64_t num_hidden_layers = 4;
  std::int64_t num_attention_heads = 4;
  std::int64_t num_key_value_heads = 2;
  std::int64_t head_dim = 32;  // even; RoPE turns pairs
  std::int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  double initializer_range = 0.02;
  bool tie_word_embeddings = true;
  std::int64_t bos_token_id = -1;  // -1: none
  std::int64_t eos_token_id = -1;

  static Fields<ModelConfig> fields();
  bool operator==(const ModelConfig&) const = default;

  std::int64_t query_size() const { return num_attention_heads * head_dim; }
  std::int64_t key_value_size() const { return num_key_value_heads * head_dim; }
};

// Sizes that cannot be a model: heads that do not divide, odd head_dim, zeros, absurdly large
// values.
Status check(const ModelConfig& config);

Json to_json(const ModelConfig& config);
// `source` (a file name) begins every error.
Result<ModelConfig> model_config_from_json(const Json& json, std::string_view source);
Result<ModelConfig> read_model_config(const std::filesystem::path& file);

}  // namespace tritonsmith::model
