#include "train/config/sections.h"

#include "base/log.h"
#include "model/config/config.h"
#include "text/checkpoint_chat.h"

namespace tritonsmith::train {

namespace fs = std::filesystem;

Fields<RunSection> RunSection::fields() {
  using S = RunSection;
  return {
      field("dir", &S::dir, "The directory that the run writes to. A run that is there continues."),
      field("seed", &S::seed, "Every random choice follows from this seed."),
      field("steps", &S::steps, "How many steps the run has.", at_least<std::int64_t>(1))};
}

Fields<ModelSection> ModelSection::fields() {
  using S = ModelSection;
  return {
      field("path", &S::path,
            "The model to begin with: a directory (config.json, model.safetensors, "
            "tokenizer.json), or OWNER/NAME on the Hugging Face hub."),
      field("device", &S::device,
            "The device: cpu, cuda, or auto, which takes the GPU where one works."),
      field("recompute", &S::recompute,
            "What the backward pass computes again on a GPU: nothing, or layers, which keeps only "
            "the input of each layer."),
      field("precision", &S::precision,
            "The type that a GPU computes in: float16 or bfloat16. Gradients are always bfloat16."),
      field("sums", &S::sums,
            "The order of sums on a GPU: fast, or equal, with which the log-probabilities of "
            "trainer and engine agree."),
      field("masters", &S::masters,
            "Where the float32 weights lie: whole on every rank, or sharded, with a part on each "
            "rank."),
      field("check_chat", &S::check_chat,
            "Refuse a model whose own chat template renders other token ids than ours.")};
}

Status check_sections(const RunSection& run, const ModelSection& model, ModelLocation location) {
  if (run.dir.empty()) return fail("run.dir is not set: name the directory the run writes to");
  if (model.path.empty()) return fail("model.path is not set: name the model to begin with");
  std::error_code ignored;
  if (location == ModelLocation::here && !fs::is_directory(first_model(run, model), ignored))
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
