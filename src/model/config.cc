#include "model/config.h"

#include <utility>

#include "base/file.h"

namespace tritonsmith::model {
namespace {

constexpr std::string_view kArchitecture = "Qwen2ForCausalLM";
constexpr std::int64_t kLargest = std::int64_t{1}
                                  << 24;  // of any one size: keeps products within 64 bits

// transformers 5 keeps the base in rope_parameters, version 4 beside the other keys.
Result<double> read_rope_theta(JsonReader& reader) {
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!reader.has(name)) continue;
    JsonReader rope(reader.object(name));
    const std::string type = rope.string("rope_type", rope.string("type", "default"));
    if (type != "default") return fail("{}: RoPE of type '{}' is not supported", name, type);
    if (rope.has("rope_theta")) {
      const double theta = rope.number("rope_theta");
      TRY(rope.status());
      return theta;
    }
  }
  return reader.number("rope_theta", 10000.0);
}

Status refuse_what_is_not_computed(const Json& json, JsonReader& reader) {
  const auto architectures =
      reader.has("architectures") ? reader.strings("architectures") : std::vector<std::string>{};
  TRY(reader.status());
  for (const std::string& name : architectures)
    if (name != kArchitecture)
      return fail("architecture '{}' is not supported; {} is", name, kArchitecture);
  const std::string type = reader.string("model_type", "");
  if (type != "qwen2") return fail("model_type '{}' is not supported; qwen2 is", type);
  if (const auto act = reader.string("hidden_act", "silu"); act != "silu")
    return fail("hidden_act '{}' is not supported; silu is", act);
  if (reader.boolean("use_sliding_window", false))
    return fail("use_sliding_window is not supported; set it to false");
  if (json.contains("quantization_config")) return fail("quantized weights are not supported");
  return reader.status();
}

Result<ModelConfig> parse(const Json& json) {
  JsonReader reader(json);
  TRY(reader.status());
  TRY(refuse_what_is_not_computed(json, reader));
  ModelConfig config;
  config.vocab_size = reader.integer("vocab_size");
  config.hidden_size = reader.integer("hidden_size");
  config.intermediate_size = reader.integer("intermediate_size");
  config.num_hidden_layers = reader.integer("num_hidden_layers");
  config.num_attention_heads = reader.integer("num_attention_heads");
  config.num_key_value_heads = reader.integer("num_key_value_heads", config.num_attention_heads);
  TRY(reader.status());
  if (config.num_attention_heads < 1)
    return fail("num_attention_heads must be at least 1, not {}", config.num_attention_heads);
  config.head_dim = reader.integer("head_dim", config.hidden_size / config.num_attention_heads);
  config.max_position_embeddings = reader.integer("max_position_embeddings", 32768);
  config.rms_norm_eps = reader.number("rms_norm_eps", 1e-6);
  TRY_ASSIGN(config.rope_theta, read_rope_theta(reader));
  config.initializer_range = reader.number("initializer_range", 0.02);
  config.tie_word_embeddings = reader.boolean("tie_word_embeddings", false);
  // Some files list several end tokens; the first is the one that ends a turn.
  const auto token = [&](const char* name) -> std::int64_t {
    if (json.contains(name) && json[name].is_array())
      return json[name].empty() || !json[name][0].is_number_integer()
                 ? -1
                 : json[name][0].get<std::int64_t>();
    return reader.integer(name, -1);
  };
  config.bos_token_id = token("bos_token_id");
  config.eos_token_id = token("eos_token_id");
  TRY(reader.status());
  TRY(check(config));
  return config;
}

}  // namespace

Fields<ModelConfig> ModelConfig::fields() {
  using C = ModelConfig;
  const auto size = at_least<std::int64_t>(1);
  return {
      field("vocab_size", &C::vocab_size, "tokens the model knows", size),
      field("hidden_size", &C::hidden_size, "width of the residual stream", size),
      field("intermediate_size", &C::intermediate_size, "width inside the MLP", size),
      field("num_hidden_layers", &C::num_hidden_layers, "decoder layers", size),
      field("num_attention_heads", &C::num_attention_heads, "query heads", size),
      field("num_key_value_heads", &C::num_key_value_heads, "key and value heads", size),
      field("head_dim", &C::head_dim, "width of one head, even", at_least<std::int64_t>(2)),
      field("max_position_embeddings", &C::max_position_embeddings, "longest sequence", size),
      field("rms_norm_eps", &C::rms_norm_eps, "added to the mean square", between(0.0, 1.0)),
      field("rope_theta", &C::rope_theta, "base of the rotary frequencies", at_least(1.0)),
      field("initializer_range", &C::initializer_range, "deviation of fresh weights",
            between(0.0, 1.0)),
      field("tie_word_embeddings", &C::tie_word_embeddings, "the head is the embedding"),
      field("bos_token_id", &C::bos_token_id, "begin of text, -1 for none"),
      field("eos_token_id", &C::eos_token_id, "end of turn, -1 for none"),
  };
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
  return ok();
}

Json to_json(const ModelConfig& config) {
  Json json = {{"architectures", {kArchitecture}},
               {"model_type", "qwen2"},
               {"vocab_size", config.vocab_size},
               {"hidden_size", config.hidden_size},
               {"intermediate_size", config.intermediate_size},
               {"num_hidden_layers", config.num_hidden_layers},
               {"num_attention_heads", config.num_attention_heads},
               {"num_key_value_heads", config.num_key_value_heads},
               {"head_dim", config.head_dim},
               {"max_position_embeddings", config.max_position_embeddings},
               {"rms_norm_eps", config.rms_norm_eps},
               {"rope_theta", config.rope_theta},
               {"initializer_range", config.initializer_range},
               {"tie_word_embeddings", config.tie_word_embeddings},
               {"hidden_act", "silu"},
               {"attention_dropout", 0.0},
               {"use_sliding_window", false},
               {"torch_dtype", "float32"}};
  json["bos_token_id"] = config.bos_token_id < 0 ? Json() : Json(config.bos_token_id);
  json["eos_token_id"] = config.eos_token_id < 0 ? Json() : Json(config.eos_token_id);
  return json;
}

Result<ModelConfig> model_config_from_json(const Json& json, std::string_view source) {
  auto config = parse(json);
  if (!config) return tl::unexpected<Error>(config.error().within(source));
  return config;
}

Result<ModelConfig> read_model_config(const std::filesystem::path& file) {
  TRY_ASSIGN(const std::string text, read_file(file));
  auto json = parse_json(text);
  if (!json) return tl::unexpected<Error>(json.error().within(file.string()));
  return model_config_from_json(*json, file.string());
}

}  // namespace tritonsmith::model
