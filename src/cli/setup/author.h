// ModelAuthor: a model directory opened for writing kernels: weights, tokenizer, chat format and
// engine, and the prompts that it is asked with. eval, write and quickstart share it.
#pragma once

#include <filesystem>
#include <memory>

#include "cli/call/command.h"
#include "eval/evaluate.h"
#include "generate/token_writer.h"
#include "model/checkpoint/checkpoint.h"
#include "model/memory/device.h"
#include "text/prompt.h"
#include "text/tokenizer.h"

namespace tritonsmith::cli {

// The device of the model, and its 16-bit type on a GPU.
struct Placement {
  model::DeviceChoice device = model::DeviceChoice::automatic;
  model::Precision precision = model::Precision::float16;
};

// --device and --precision.
void add_placement_options(CLI::App& command, Placement& placement);

class ModelAuthor {
 public:
  // Fails in one line that names the directory or file at fault.
  static Result<std::unique_ptr<ModelAuthor>> open(const std::filesystem::path& directory,
                                                   const Placement& placement,
                                                   const text::PromptConfig& prompt);

  // The writer and its prompts; refers to this object.
  eval::Author author();
  // The tokens that prompt and completion may have together.
  std::int64_t positions() const { return model_.config().max_position_embeddings; }

 private:
  ModelAuthor(model::Transformer model, text::Tokenizer tokenizer, text::PromptConfig prompt);
  model::Transformer model_;
  text::Tokenizer tokenizer_;
  text::PromptConfig prompt_;
  std::unique_ptr<generate::TokenWriter> writer_;
};

}  // namespace tritonsmith::cli
