#include "model/weights/model_weights.h"

#include <ATen/ATen.h>

#include "base/check.h"

namespace tritonsmith::model {

ModelWeights::ModelWeights(const ModelConfig& config, c10::Device device, c10::ScalarType dtype) {
  const Status sound = check(config);
  CHECK(sound, "weights for a config that was not checked: {}", sound.error().message);
  const auto add = [&](std::string name, const std::vector<std::int64_t>& shape) {
    at::Tensor tensor = at::zeros(shape, at::TensorOptions().dtype(dtype).device(device));
    tensor.requires_grad_(true);
    parameters.push_back({.name = std::move(name), .tensor = tensor});
    return tensor;
  };
  const std::int64_t hidden = config.hidden_size, inner = config.intermediate_size;
  const std::int64_t query = config.query_size(), key_value = config.key_value_size();
  embedding = add("model.embed_tokens.weight", {config.vocab_size, hidden});
  for (std::int64_t n = 0; n < config.num_hidden_layers; ++n) {
    const auto named = [&](const char* name) { return fmt::format("model.layers.{}.{}", n, name); };
    LayerWeights& layer = layers.emplace_back();
    layer.input_norm = add(named("input_layernorm.weight"), {hidden});
    layer.q = add(named("self_attn.q_proj.weight"), {query, hidden});
    layer.k = add(named("self_attn.k_proj.weight"), {key_value, hidden});
    layer.v = add(named("self_attn.v_proj.weight"), {key_value, hidden});
    if (config.has_qkv_bias()) {
      layer.q_bias = add(named("self_attn.q_proj.bias"), {query});
      layer.k_bias = add(named("self_attn.k_proj.bias"), {key_value});
      layer.v_bias = add(named("self_attn.v_proj.bias"), {key_value});
    }
    if (config.has_qk_norm()) {
      layer.q_norm = add(named("self_attn.q_norm.weight"), {config.head_dim});
      layer.k_norm = add(named("self_attn.k_norm.weight"), {config.head_dim});
    }
    layer.o = add(named("self_attn.o_proj.weight"), {hidden, query});
    layer.post_norm = add(named("post_attention_layernorm.weight"), {hidden});
    layer.gate = add(named("mlp.gate_proj.weight"), {inner, hidden});
    layer.up = add(named("mlp.up_proj.weight"), {inner, hidden});
    layer.down = add(named("mlp.down_proj.weight"), {hidden, inner});
  }
  final_norm = add("model.norm.weight", {hidden});
  head =
      config.tie_word_embeddings ? embedding : add("lm_head.weight", {config.vocab_size, hidden});
}

}  // namespace tritonsmith::model
