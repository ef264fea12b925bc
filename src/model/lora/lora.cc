#include "model/lora/lora.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/file.h"
#include "base/rng.h"
#include "model/checkpoint/checkpoint.h"
#include "model/checkpoint/model_directory.h"

namespace tritonsmith::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigFile = "adapter_config.json";
constexpr const char* kWeightsFile = "adapter_model.safetensors";
constexpr std::string_view kKnownTargets[] = {"q_proj",    "k_proj",  "v_proj",   "o_proj",
                                              "gate_proj", "up_proj", "down_proj"};

Status check(const LoraConfig& config) {
  if (config.rank < 1) return fail("a rank of at least 1 is needed, not {}", config.rank);
  if (config.targets.empty()) return fail("there are no target modules");
  for (const std::string& target : config.targets)
    if (std::ranges::find(kKnownTargets, target) == std::end(kKnownTargets))
      return fail("'{}' is no module that can be adapted; {} are", target,
                  fmt::join(kKnownTargets, ", "));
  return ok();
}

// Returns "up_proj" for "model.layers.0.mlp.up_proj.weight". Returns an empty string for other
// tensors than linear weights of a layer.
std::string_view module_of(std::string_view name) {
  if (!name.ends_with(".weight") || !name.starts_with("model.layers.")) return {};
  name.remove_suffix(std::string_view(".weight").size());
  return name.substr(name.rfind('.') + 1);
}

// Stores the numbers in bfloat16 if that is exact, which halves their memory. Most checkpoints are
// bfloat16.
at::Tensor kept_exactly(const at::Tensor& weight) {
  at::Tensor half = weight.detach().to(at::kBFloat16);
  return at::equal(half.to(weight.scalar_type()), weight) ? half : weight.detach().clone();
}

// Refuses settings that change the formula, unless they have PEFT's default value.
Status refuse_other_formulas(const Json& json, JsonReader& reader) {
  if (const auto type = reader.string("peft_type"); type != "LORA")
    return fail("peft_type '{}' is not supported; LORA is", type);
  if (const auto bias = reader.string("bias", "none"); bias != "none")
    return fail("bias '{}' is not supported; none is", bias);
  for (const char* name : {"use_dora", "use_qalora", "fan_in_fan_out", "lora_bias"})
    if (reader.boolean(name, false)) return fail("{} is not supported", name);
  for (const char* name :
       {"modules_to_save", "layers_to_transform", "rank_pattern", "alpha_pattern",
        "target_parameters", "exclude_modules", "trainable_token_indices", "layer_replication",
        "alora_invocation_tokens", "use_bdlora"})
    if (json.contains(name) && !json[name].empty()) return fail("{} is not supported", name);
  return reader.status();
}

Result<LoraConfig> parse_config(const Json& json) {
  JsonReader reader(json);
  TRY(reader.status());
  TRY(refuse_other_formulas(json, reader));
  LoraConfig config;
  config.rank = reader.integer("r");
  config.alpha = reader.number("lora_alpha");
  const auto targets = json.find("target_modules");
  if (targets != json.end() && targets->is_array())
    config.targets = reader.strings("target_modules");
  else if (targets == json.end() || *targets != "all-linear")
    return fail("target_modules must be a list of names, or \"all-linear\"");
  // Kalajdzievski 2023, arXiv 2312.03732: alpha / sqrt(r).
  const bool by_root = reader.boolean("use_rslora", false);
  TRY(reader.status());
  TRY(check(config));
  if (by_root) config.alpha *= std::sqrt(static_cast<double>(config.rank));
  return config;
}

Json config_json(const LoraConfig& config, const std::string& base) {
  return {{"peft_type", "LORA"},
          {"task_type", "CAUSAL_LM"},
          {"base_model_name_or_path", base},
          {"r", config.rank},
          {"lora_alpha", config.alpha},
          {"target_modules", config.targets},
          {"lora_dropout", 0.0},
          {"bias", "none"},
          {"fan_in_fan_out", false},
          {"init_lora_weights", true},
          {"inference_mode", true},
          {"modules_to_save", nullptr},
          {"use_dora", false},
          {"use_rslora", false}};
}

}  // namespace

Fields<LoraConfig> LoraConfig::fields() {
  using C = LoraConfig;
  return {field("rank", &C::rank, "Train low-rank adapters of this rank. 0: train all weights.",
                at_least<std::int64_t>(0)),
          field("alpha", &C::alpha, "The product of the adapters is multiplied by alpha / rank.",
                between(1e-6, 1e6)),
          field("targets", &C::targets, "The linear weights of every layer that get an adapter.")};
}

LoraAdapter::LoraAdapter(const Transformer& model, const LoraConfig& config) : config_(config) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : model.parameters()) {
    const std::string_view module = module_of(name);
    if (tensor.dim() != 2 || std::ranges::find(config.targets, module) == config.targets.end())
      continue;
    const auto options = tensor.options().requires_grad(false);
    modules_.push_back({.name = name.substr(0, name.size() - std::string(".weight").size()),
                        .weight = tensor,
                        .base = kept_exactly(tensor),
                        .a = at::zeros({config.rank, tensor.size(1)}, options),
                        .b = at::zeros({tensor.size(0), config.rank}, options)});
  }
}

Result<LoraAdapter> LoraAdapter::make(const Transformer& model, const LoraConfig& config,
                                      std::uint64_t seed) {
  TRY_WITHIN("lora", check(config));
  LoraAdapter adapter(model, config);
  for (std::size_t i = 0; i < adapter.modules_.size(); ++i) {
    at::Tensor values = at::empty(adapter.modules_[i].a.sizes(), at::kFloat);
    const double bound = 1 / std::sqrt(static_cast<double>(values.size(1)));
    Rng rng(seed, "model.lora", i);
    float* out = values.mutable_data_ptr<float>();
    for (std::int64_t at = 0; at < values.numel(); ++at)
      out[at] = static_cast<float>(bound * (2 * rng.uniform() - 1));
    adapter.modules_[i].a.copy_(values);
  }
  return adapter;
}

Result<LoraAdapter> LoraAdapter::load(const Transformer& model, const fs::path& directory) {
  TRY(check_adapter_directory(directory));
  const fs::path file = directory / kConfigFile;
  TRY_ASSIGN(const std::string text, read_file(file));
  auto json = parse_json(text);
  if (!json) return tl::unexpected<Error>(json.error().within(file.string()));
  auto parsed = parse_config(*json);
  if (!parsed) return tl::unexpected<Error>(parsed.error().within(file.string()));
  LoraAdapter adapter(model, *parsed);
  if (const Status read = read_tensors_into(adapter.parameters(), directory / kWeightsFile); !read)
    return tl::unexpected(
        Error{read.error().message + "; name the model that the adapter was trained on",
              read.error().kind});
  adapter.merge();
  return adapter;
}

Status LoraAdapter::save(const fs::path& directory, const std::string& base) const {
  TRY(make_directories(directory));
  TRY(write_safetensors(directory / kWeightsFile, parameters(), {{"format", "pt"}}));
  return write_file_atomic(directory / kConfigFile, config_json(config_, base).dump(2) + "\n");
}

LoraAdapter LoraAdapter::copy() const {
  LoraAdapter copy;
  copy.config_ = config_;
  for (const Module& module : modules_)
    copy.modules_.push_back({.name = module.name,
                             .base = module.base,
                             .a = module.a.detach().clone(),
                             .b = module.b.detach().clone()});
  return copy;
}

at::Tensor LoraAdapter::product(const Module& module) const {
  const at::NoGradGuard no_grad;
  return at::addmm(module.base.to(module.a.scalar_type()), module.b, module.a, 1, scale());
}

at::Tensor LoraAdapter::merged(const std::string& name) const {
  const auto is_its = [&](const Module& module) { return module.name + ".weight" == name; };
  const auto module = std::ranges::find_if(modules_, is_its);
  return module == modules_.end() ? at::Tensor() : product(*module);
}

std::vector<NamedTensor> LoraAdapter::parameters() const {
  std::vector<NamedTensor> list;
  for (const Module& module : modules_) {
    const std::string name = "base_model.model." + module.name;
    list.push_back({.name = name + ".lora_A.weight", .tensor = module.a});
    list.push_back({.name = name + ".lora_B.weight", .tensor = module.b});
  }
  return list;
}

void LoraAdapter::merge() {
  const at::NoGradGuard no_grad;
  for (Module& module : modules_)
    module.weight.copy_(
        at::addmm(module.base.to(module.weight.scalar_type()), module.b, module.a, 1, scale()));
}

void LoraAdapter::take_gradients() {
  const at::NoGradGuard no_grad;
  for (Module& module : modules_) {
    const at::Tensor& d_weight = module.weight.grad();  // [out, in]
    CHECK(d_weight.defined(), "no gradient of {}", module.name);
    module.a.mutable_grad().copy_(at::matmul(module.b.t(), d_weight) * scale());
    module.b.mutable_grad().copy_(at::matmul(d_weight, module.a.t()) * scale());
  }
}

bool is_adapter(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / kConfigFile, ignored);
}

}  // namespace tritonsmith::model
