// ModelAuthor: a model directory opened for writing kernels, with weights, tokenizer, chat, prompts
// and the rollout engine. eval, write and quickstart use it.
#pragma once

#include <filesystem>
#include <memory>

#include "eval/evaluate.h"
#include "model/checkpoint.h"
#include "model/device.h"
#include "rollout/engine.h"
#include "text/chat.h"
#include "text/prompt.h"
#include "text/tokenizer.h"

namespace tritonsmith::cli {

// The device of the model, and its 16-bit type on a GPU.
struct Placement {
  model::DeviceChoice device = model::DeviceChoice::automatic;
  model::Precision precision = model::Precision::float16;
};

class ModelAuthor {
 public:
  // Fails in one line that names the directory or file at fault.
  static Result<std::unique_ptr<ModelAuthor>> open(const std::filesystem::path& directory,
                                                   const Placement& placement,
                                                   const text::PromptConfig& prompt);

  // For eval::evaluate. The result refers to this object.
  eval::Author author();
  std::vector<TokenId> prompt_tokens(const Task& task) const;
  // Returns the given parameters with the chat's stop token added.
  rollout::SamplingParams sampling(rollout::SamplingParams params) const;
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  const text::ChatTemplate& chat() const { return *chat_; }
  std::int64_t positions() const { return model_.config().max_position_embeddings; }
  rollout::Generator& generator() { return *engine_; }

 private:
  ModelAuthor(model::Transformer model, text::Tokenizer tokenizer, text::PromptConfig prompt);
  model::Transformer model_;
  text::Tokenizer tokenizer_;
  text::PromptConfig prompt_;
  std::optional<text::ChatTemplate> chat_;
  std::vector<TokenId> stop_tokens_;  // the chat's own token first
  std::unique_ptr<rollout::Generator> engine_;
};

}  // namespace tritonsmith::cli
