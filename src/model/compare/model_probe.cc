// The program that compare_transformers.py runs:
//   model_probe random DIR SEED FAMILY TIED   saves a random model, biases and norms random too
//   model_probe resave DIR TO                 loads and saves
//   model_probe logits DIR IDS                prints one line of JSON: logits [T][V], and the
//                                             log-probability of each id after the first
#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>

#include "base/json.h"
#include "model/checkpoint/checkpoint.h"
#include "model/layers/linear_logprob.h"

namespace tritonsmith::model {
namespace {

Status save_random(const std::string& directory, std::uint64_t seed, Family family, bool tied) {
  const ModelConfig config = {.family = family,
                              .vocab_size = 151,
                              .hidden_size = 64,
                              .intermediate_size = 112,
                              .num_hidden_layers = 3,
                              .num_attention_heads = 8,
                              .num_key_value_heads = 2,
                              .head_dim = 8,
                              .max_position_embeddings = 512,
                              .rope_theta = 50000.0,
                              .rope_scaling = {.factor = family == Family::llama ? 8.0 : 1.0,
                                               .original_max_position_embeddings = 64},
                              .initializer_range = 0.2,
                              .tie_word_embeddings = tied,
                              .eos_token_id = 2};
  const auto model = Transformer::random(config, seed);
  const at::NoGradGuard no_grad;
  at::manual_seed(seed);
  for (const auto& each : model.parameters())
    if (each.tensor.dim() == 1) each.tensor.add_(at::randn_like(each.tensor) * 0.3);
  return save_model(model, directory);
}

Status resave(const std::string& from, const std::string& to) {
  TRY_ASSIGN(const Transformer model, load_model(from));
  return save_model(model, to);
}

Json numbers(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  const float* data = flat.const_data_ptr<float>();
  return std::vector<double>(data, data + flat.numel());
}

Status print_logits(const std::string& directory, const std::string& ids_text) {
  TRY_ASSIGN(const Json ids, parse_json(ids_text));
  const std::vector<TokenId> tokens = ids;
  TRY_ASSIGN(const Transformer model, load_model(directory));
  const at::NoGradGuard no_grad;
  const PackedBatch batch = pack(std::vector<std::vector<TokenId>>{tokens}, c10::kCPU);
  const at::Tensor hidden = model.forward(batch);
  const std::int64_t next = batch.length() - 1;
  const auto said = linear_logprob(hidden.narrow(0, 0, next), model.head_weight(),
                                   batch.tokens.narrow(0, 1, next));
  const Json out = {{"logits", numbers(at::matmul(hidden, model.head_weight().t()))},
                    {"logprobs", numbers(said.logprob)}};
  std::puts(to_line(out).c_str());
  return ok();
}

Status run(const std::vector<std::string>& words) {
  if (words.size() == 5 && words[0] == "random") {
    TRY_ASSIGN(const Family family, enum_from_name<Family>(words[3]));
    return save_random(words[1], std::stoull(words[2]), family, words[4] == "tied");
  }
  if (words.size() == 3 && words[0] == "resave") return resave(words[1], words[2]);
  if (words.size() == 3 && words[0] == "logits") return print_logits(words[1], words[2]);
  return fail("model_probe random|resave|logits ...");
}

}  // namespace
}  // namespace tritonsmith::model

int main(int argc, char** argv) {
  const auto status = tritonsmith::model::run({argv + 1, argv + argc});
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
