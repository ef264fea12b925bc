#include "model/config/config.h"

#include <utility>

namespace tritonsmith::model {
namespace {

constexpr std::int64_t kLargest = std::int64_t{1}
                                  << 24;  // of any one size: keeps products within 64 bits

Status check_scaling(const RopeScaling& scaling) {
  if (!(scaling.factor >= 1))
    return fail("RoPE's factor must be at least 1, not {}", scaling.factor);
  if (scaling.factor == 1) return ok();
  if (!(scaling.low_freq_factor > 0 && scaling.high_freq_factor > scaling.low_freq_factor))
    return fail(
        "RoPE's high_freq_factor ({}) must be above its low_freq_factor ({}), and both above 0",
        scaling.high_freq_factor, scaling.low_freq_factor);
  if (scaling.original_max_position_embeddings < 1)
    return fail("RoPE's original_max_position_embeddings must be at least 1, not {}",
                scaling.original_max_position_embeddings);
  return ok();
}

}  // namespace

Fields<RopeScaling> RopeScaling::fields() {
  using R = RopeScaling;
  return {
      field("factor", &R::factor,
            "The lowest rotary frequencies are divided by this factor. 1: no scaling.",
            at_least(1.0)),
      field("low_freq_factor", &R::low_freq_factor,
            "Waves longer than the original context divided by this number get the whole factor.",
            at_least(0.0)),
      field("high_freq_factor", &R::high_freq_factor,
            "Waves shorter than the original context divided by this number stay as they are.",
            at_least(0.0)),
      field("original_max_position_embeddings", &R::original_max_position_embeddings,
            "The original context, in tokens.", at_least<std::int64_t>(1))};
}

Fields<ModelConfig> ModelConfig::fields() {
  using C = ModelConfig;
  const auto size = at_least<std::int64_t>(1);
  Fields<ModelConfig> fields = {
      field("family", &C::family, "The family of the model: " + all_names<Family>() + "."),
      field("vocab_size", &C::vocab_size, "How many tokens the model knows.", size),
      field("hidden_size", &C::hidden_size, "The width of the residual stream.", size),
      field("intermediate_size", &C::intermediate_size, "The width inside the MLP.", size),
      field("num_hidden_layers", &C::num_hidden_layers, "How many decoder layers the model has.",
            size),
      field("num_attention_heads", &C::num_attention_heads, "How many query heads a layer has.",
            size),
      field("num_key_value_heads", &C::num_key_value_heads,
            "How many heads of keys and values a layer has.", size),
      field("head_dim", &C::head_dim, "The width of one head, an even number.",
            at_least<std::int64_t>(2)),
      field("max_position_embeddings", &C::max_position_embeddings,
            "The longest sequence, in tokens.", size),
      field("rms_norm_eps", &C::rms_norm_eps, "The number that a norm adds to the mean square.",
            between(0.0, 1.0)),
      field("rope_theta", &C::rope_theta, "The base of the rotary frequencies.", at_least(1.0)),
      field("initializer_range", &C::initializer_range, "The standard deviation of fresh weights.",
            between(0.0, 1.0)),
      field("tie_word_embeddings", &C::tie_word_embeddings,
            "The head uses the weights of the embedding."),
      field("bos_token_id", &C::bos_token_id, "The token at the beginning of a text. -1: none."),
      field("eos_token_id", &C::eos_token_id, "The token at the end of a turn. -1: none."),
  };
  append_section(fields, "rope_scaling", &C::rope_scaling);
  return fields;
}

Status check(const ModelConfig& config) {
  const std::pair<const char*, std::int64_t> sizes[] = {
      {"vocab_size", config.vocab_size},
      {"hidden_size", config.hidden_size},
      {"intermediate_size", config.intermediate_size},
      {"num_hidden_layers", config.num_hidden_layers},
      {"num_attention_heads", config.num_attention_heads},
      {"num_key_value_heads", config.num_key_value_heads},
      {"head_dim", config.head_dim},
      {"max_position_embeddings", config.max_position_embeddings}};
  for (const auto& [name, value] : sizes)
    if (value < 1 || value > kLargest)
      return fail("{} must lie between 1 and {}, not {}", name, kLargest, value);
  if (config.num_hidden_layers > 1024)
    return fail("num_hidden_layers must be at most 1024, not {}", config.num_hidden_layers);
  if (config.num_attention_heads % config.num_key_value_heads != 0)
    return fail("num_attention_heads ({}) must be a multiple of num_key_value_heads ({})",
                config.num_attention_heads, config.num_key_value_heads);
  if (config.head_dim % 2 != 0) return fail("head_dim must be even, not {}", config.head_dim);
  if (!(config.rope_theta >= 1))
    return fail("rope_theta must be at least 1, not {}", config.rope_theta);
  if (!(config.rms_norm_eps >= 0)) return fail("rms_norm_eps must not be negative");
  return check_scaling(config.rope_scaling);
}

}  // namespace tritonsmith::model
