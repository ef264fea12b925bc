// ModelConfig: the shape of a decoder of one of the families (families.h), in the format of
// Hugging Face's config.json. Reading refuses features that the code does not compute: other
// architectures, other RoPE scalings, sliding windows. The error is one line that names the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/config.h"
#include "model/config/families.h"

namespace tritonsmith::model {

// Llama 3's RoPE scaling. Waves longer than the original context rotate `factor` times slower.
// Short waves do not change, and waves between are blended (aten_layer.cc). A factor of 1 changes
// nothing.
struct RopeScaling {
  double factor = 1.0;
  double low_freq_factor = 1.0;
  double high_freq_factor = 4.0;
  std::int64_t original_max_position_embeddings = 8192;

  static Fields<RopeScaling> fields();
  bool operator==(const RopeScaling&) const = default;
};

// The names are those of config.json. The defaults are the small model that the quickstart trains.
struct ModelConfig {
  Family family = Family::qwen2;
  std::int64_t vocab_size = 1024;
  std::int64_t hidden_size = 128;
  std::int64_t intermediate_size = 384;
  std::int64_t num_hidden_layers = 4;
  std::int64_t num_attention_heads = 4;
  std::int64_t num_key_value_heads = 2;
  std::int64_t head_dim = 32;  // even, because RoPE rotates pairs of elements
  std::int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000.0;
  RopeScaling rope_scaling;
  double initializer_range = 0.02;
  bool tie_word_embeddings = true;
  std::int64_t bos_token_id = -1;  // -1: none
  std::int64_t eos_token_id = -1;
  // Some files list several ids. The first of them is eos_token_id, which ends a turn.
  std::vector<std::int64_t> more_eos_token_ids;

  static Fields<ModelConfig> fields();
  bool operator==(const ModelConfig&) const = default;

  bool has_qkv_bias() const { return traits_of(family).has_qkv_bias; }
  bool has_qk_norm() const { return traits_of(family).has_qk_norm; }
  std::int64_t query_size() const { return num_attention_heads * head_dim; }
  std::int64_t key_value_size() const { return num_key_value_heads * head_dim; }
};

// Refuses sizes that no model can have: heads that do not divide, an odd head_dim, zeros, very
// large values.
Status check(const ModelConfig& config);

Json to_json(const ModelConfig& config);
// `source` is a file name with which every error begins.
Result<ModelConfig> model_config_from_json(const Json& json, std::string_view source);
Result<ModelConfig> read_model_config(const std::filesystem::path& file);

}  // namespace tritonsmith::model
