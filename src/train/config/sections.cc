#include "train/config/sections.h"

#include "base/log.h"
#include "model/config/config.h"
#include "text/checkpoint_chat.h"

namespace tritonsmith::train {

namespace fs = std::filesystem;

Fields<RunSection> RunSection::fields() {
  using S = RunSection;
  return {field("dir", &S::dir, "the directory the run writes to; a run in it is gone on with"),
          field("seed", &S::seed, "every random choice follows from it"),
          field("steps", &S::steps, "how many steps the run has", at_least<std::int64_t>(1))};
}

Fields<ModelSection> ModelSection::fields() {
  using S = ModelSection;
  return {
      field("path", &S::path,
            "directory of the model to begin with (config.json, model.safetensors, "
            "tokenizer.json)"),
      field("device", &S::device, "auto, cpu or cuda; auto takes the GPU where one works"),
      field("recompute", &S::recompute,
            "nothing, or layers: on a GPU keep a layer's input alone for the backward"),
      field("precision", &S::precision,
            "float16 or bfloat16: what a GPU computes in; gradients are bfloat16 either way"),
      field("sums", &S::sums,
            "fast, or equal: on a GPU trainer and engine sum in one order, so that their "
            "log-probabilities agree"),
      field("masters", &S::masters,
            "whole, or sharded: each of several ranks keeps only its part of the float32 weights"),
      field("check_chat", &S::check_chat,
            "refuse a model whose own chat template renders otherwise than ours")};
}

Fields<OptimizerSection> OptimizerSection::fields() {
  using S = OptimizerSection;
  return {
      field("learning_rate", &S::learning_rate, "the peak, after the warm-up", between(0.0, 10.0)),
      field("schedule", &S::schedule, "constant, cosine or linear, from the peak downwards"),
      field("warmup_updates", &S::warmup_updates, "updates of linear rise to the peak",
            at_least<std::int64_t>(0)),
      field("final_ratio", &S::final_ratio, "the last update's rate, as a share of the peak",
            between(0.0, 1.0)),
      field("beta1", &S::beta1, "AdamW: decay of the mean of gradients", between(0.0, 0.999999)),
      field("beta2", &S::beta2, "AdamW: decay of the mean of squared gradients",
            between(0.0, 0.999999)),
      field("epsilon", &S::epsilon, "AdamW: added to the root of the second mean",
            between(1e-30, 1.0)),
      field("weight_decay", &S::weight_decay, "decoupled; norms and biases take none",
            between(0.0, 10.0)),
      field("max_grad_norm", &S::max_grad_norm,
            "gradients are scaled down to this global norm; 0: no limit", at_least(0.0)),
      field("micro_batch_tokens", &S::micro_batch_tokens,
            "tokens in one forward and backward pass; bounds the memory, never the result",
            at_least<std::int64_t>(16)),
      field("share_prompts", &S::share_prompts,
            "auto, on or off: compute once in a pass what prompts have in common; auto: on a GPU")};
}

Status check_sections(const RunSection& run, const ModelSection& model) {
  if (run.dir.empty()) return fail("run.dir is not set: name the directory the run writes to");
  if (model.path.empty()) return fail("model.path is not set: name the model to begin with");
  std::error_code ignored;
  if (!fs::is_directory(first_model(run, model), ignored))
    return fail("model.path: {} is not a directory with a model", model.path);
  return ok();
}

fs::path first_model(const RunSection& run, const ModelSection& model) {
  const fs::path own = fs::path(run.dir) / "checkpoints" / "step-0";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own : fs::path(model.path);
}

Result<text::ChatTemplate> open_chat(const ModelSection& section, const fs::path& directory,
                                     const text::Tokenizer& tokenizer,
                                     std::span<const text::Message> prompt) {
  TRY_ASSIGN(const auto opened, text::open_checkpoint_chat(directory, tokenizer, prompt));
  if (opened.difference.empty()) return opened.chat;
  if (section.check_chat)
    return fail("{}; change the prompt to agree, or set model.check_chat = false",
                opened.difference);
  LOG("{}", opened.difference);
  return opened.chat;
}

Status check_model_fits(const fs::path& model, std::size_t token_ids, std::int64_t longest,
                        std::string_view longest_name) {
  TRY_ASSIGN(const auto config, model::read_model_config(model / "config.json"));
  if (token_ids > static_cast<std::size_t>(config.vocab_size))
    return fail("{}: the tokenizer has {} ids, but the model has a vocabulary of {}",
                model.string(), token_ids, config.vocab_size);
  if (longest > config.max_position_embeddings)
    return fail("{} allows {} tokens, but the model of {} has {} positions", longest_name, longest,
                model.string(), config.max_position_embeddings);
  return ok();
}

}  // namespace tritonsmith::train
