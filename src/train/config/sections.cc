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
            "the model to begin with: a directory (config.json, model.safetensors, "
            "tokenizer.json), or OWNER/NAME on the Hugging Face hub"),
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
