// OpenedWriter: the model that writes kernels for eval, write and quickstart, and the form of its
// prompts.
// ModelWriter is a model directory: weights, tokenizer, chat format and engine. remote_writer.h has a
// model behind a server.
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

class OpenedWriter {
 public:
  virtual ~OpenedWriter() = default;
  // The writer and its prompts; refers to this object.
  virtual eval::PromptedWriter prompted_writer() = 0;
  // The tokens that prompt and completion may have together, where that is known.
  virtual std::optional<std::int64_t> positions() const = 0;
  // It belongs to a model directory, and is nullptr if the model has no tokens here.
  virtual generate::TokenWriter* token_writer() { return nullptr; }
  virtual const text::Tokenizer* tokenizer() const { return nullptr; }
  // Returns what a completion costs by the prices of a remote model, or 0 if it has none.
  virtual double cost_of(const Usage& /*usage*/) const { return 0; }
  // Says what the writer took, and writes it into the directory unless that is empty.
  virtual Status account(const std::filesystem::path& /*directory*/) { return ok(); }
};

class ModelWriter : public OpenedWriter {
 public:
  // Fails in one line that names the directory or file at fault.
  static Result<std::unique_ptr<ModelWriter>> open(const std::filesystem::path& directory,
                                                   const Placement& placement,
                                                   const text::PromptConfig& prompt);

  eval::PromptedWriter prompted_writer() override;
  std::optional<std::int64_t> positions() const override {
    return model_.config().max_position_embeddings;
  }
  generate::TokenWriter* token_writer() override { return writer_.get(); }
  const text::Tokenizer* tokenizer() const override { return &tokenizer_; }

 private:
  ModelWriter(model::Transformer model, text::Tokenizer tokenizer, text::PromptConfig prompt);
  model::Transformer model_;
  text::Tokenizer tokenizer_;
  text::PromptConfig prompt_;
  std::unique_ptr<generate::TokenWriter> writer_;
};

}  // namespace tritonsmith::cli
