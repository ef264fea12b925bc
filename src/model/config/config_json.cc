// Reads and writes Hugging Face's config.json.
#include <algorithm>

#include "base/file.h"
#include "model/config/config.h"

namespace tritonsmith::model {
namespace {

Result<Family> read_family(const Json& json, JsonReader& reader) {
  const std::string type = reader.string("model_type", "");
  const auto known =
      std::ranges::find(enum_names<Family>, type, &std::pair<Family, std::string_view>::second);
  if (known == enum_names<Family>.end())
    return fail("model_type '{}' is not supported; {} are", type, all_names<Family>());
  const auto names =
      json.contains("architectures") ? reader.strings("architectures") : std::vector<std::string>{};
  TRY(reader.status());
  for (const std::string& name : names)
    if (name != traits_of(known->first).architecture)
      return fail("architecture '{}' is not supported; for model_type '{}' only {} is", name, type,
                  traits_of(known->first).architecture);
  return known->first;
}

Status refuse_what_is_not_computed(const Json& json, Family family, JsonReader& reader) {
  if (const auto act = reader.string("hidden_act", "silu"); act != "silu")
    return fail("hidden_act '{}' is not supported; silu is", act);
  for (const char* name : {"use_sliding_window", "mlp_bias"})
    if (reader.boolean(name, false)) return fail("{} is not supported; set it to false", name);
  // Qwen2 always has biases on q, k and v, and no such key. In other families the key also puts a
  // bias on the output projection.
  if (!traits_of(family).has_qkv_bias && reader.boolean("attention_bias", false))
    return fail("attention_bias is not supported; set it to false");
  if (json.contains("quantization_config")) return fail("quantized weights are not supported");
  return reader.status();
}

struct Rope {
  double theta = 10000.0;
  RopeScaling scaling;
};

// transformers 5 stores the base in rope_parameters, version 4 beside the other keys.
Result<Rope> read_rope(JsonReader& reader) {
  Rope rope{.theta = reader.number("rope_theta", 10000.0)};
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    if (!reader.has(name)) continue;
    JsonReader inner(reader.object(name));
    rope.theta = inner.number("rope_theta", rope.theta);
    if (inner.number("partial_rotary_factor", 1.0) != 1.0)
      return fail("a partial_rotary_factor is not supported");
    const std::string type = inner.string("rope_type", inner.string("type", "default"));
    if (type == "llama3") {
      rope.scaling = {
          .factor = inner.number("factor"),
          .low_freq_factor = inner.number("low_freq_factor"),
          .high_freq_factor = inner.number("high_freq_factor"),
          .original_max_position_embeddings = inner.integer("original_max_position_embeddings")};
    } else if (type != "default") {
      return fail("RoPE of type '{}' is not supported; default and llama3 are", type);
    }
    TRY_WITHIN(name, inner.status());
  }
  TRY(reader.status());
  return rope;
}

Status read_sizes(JsonReader& reader, ModelConfig& config) {
  config.vocab_size = reader.integer("vocab_size");
  config.hidden_size = reader.integer("hidden_size");
  config.intermediate_size = reader.integer("intermediate_size");
  config.num_hidden_layers = reader.integer("num_hidden_layers");
  config.num_attention_heads = reader.integer("num_attention_heads");
  config.num_key_value_heads = reader.integer("num_key_value_heads", config.num_attention_heads);
  TRY(reader.status());
  if (config.num_attention_heads < 1)
    return fail("num_attention_heads must be at least 1, not {}", config.num_attention_heads);
  const std::int64_t usual = traits_of(config.family).head_dim;
  config.head_dim = reader.integer(
      "head_dim", usual > 0 ? usual : config.hidden_size / config.num_attention_heads);
  config.max_position_embeddings = reader.integer("max_position_embeddings", 32768);
  return reader.status();
}

// Reads one id, a list of ids, or none.
Result<std::vector<std::int64_t>> token_ids(const Json& json, const char* name) {
  std::vector<std::int64_t> ids;
  if (!json.contains(name) || json[name].is_null()) return ids;
  const Json list = json[name].is_array() ? json[name] : Json::array({json[name]});
  for (const Json& each : list) {
    if (!each.is_number_integer()) return fail("'{}' must be a token id or a list of them", name);
    ids.push_back(each.get<std::int64_t>());
  }
  return ids;
}

Status read_tokens(const Json& json, ModelConfig& config) {
  TRY_ASSIGN(const auto begins, token_ids(json, "bos_token_id"));
  TRY_ASSIGN(const auto ends, token_ids(json, "eos_token_id"));
  if (!begins.empty()) config.bos_token_id = begins.front();
  if (!ends.empty()) {
    config.eos_token_id = ends.front();
    config.more_eos_token_ids.assign(ends.begin() + 1, ends.end());
  }
  return ok();
}

Result<ModelConfig> parse(const Json& json) {
  JsonReader reader(json);
  TRY(reader.status());
  ModelConfig config;
  TRY_ASSIGN(config.family, read_family(json, reader));
  TRY(refuse_what_is_not_computed(json, config.family, reader));
  TRY(read_sizes(reader, config));
  config.rms_norm_eps = reader.number("rms_norm_eps", 1e-6);
  TRY_ASSIGN(const Rope rope, read_rope(reader));
  config.rope_theta = rope.theta;
  config.rope_scaling = rope.scaling;
  config.initializer_range = reader.number("initializer_range", 0.02);
  config.tie_word_embeddings = reader.boolean("tie_word_embeddings", false);
  TRY(reader.status());
  TRY(read_tokens(json, config));
  TRY(check(config));
  return config;
}

Json id_or_null(std::int64_t id) { return id < 0 ? Json() : Json(id); }

}  // namespace

Json to_json(const ModelConfig& config) {
  Json json = {{"architectures", {traits_of(config.family).architecture}},
               {"model_type", name_of(config.family)},
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
               {"torch_dtype", "float32"},
               {"bos_token_id", id_or_null(config.bos_token_id)},
               {"eos_token_id", id_or_null(config.eos_token_id)}};
  json[std::string(traits_of(config.family).key_switched_off)] = false;
  if (const RopeScaling& scaling = config.rope_scaling; scaling.factor != 1)
    json["rope_scaling"] = {
        {"rope_type", "llama3"},
        {"factor", scaling.factor},
        {"low_freq_factor", scaling.low_freq_factor},
        {"high_freq_factor", scaling.high_freq_factor},
        {"original_max_position_embeddings", scaling.original_max_position_embeddings}};
  if (!config.more_eos_token_ids.empty()) {
    Json ids = {config.eos_token_id};
    for (const std::int64_t id : config.more_eos_token_ids) ids.push_back(id);
    json["eos_token_id"] = ids;
  }
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
