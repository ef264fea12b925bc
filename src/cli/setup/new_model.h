// A new model for training: a tokenizer learnt from examples, and random weights of a given shape,
// as a model directory. `model make` and the quickstart use it.
#pragma once

#include <filesystem>
#include <span>

#include "model/checkpoint/export_model.h"
#include "model/config/config.h"
#include "text/prompt_record.h"
#include "text/tokenizer.h"
#include "train/sft/sft_examples.h"

namespace tritonsmith::cli {

struct NewModelConfig {
  std::uint64_t seed = 1;
  int vocabulary = 1024;  // tokens
  text::PieceRule pieces = text::PieceRule::phrases;
  std::int64_t vocab_size = 0;  // rows of the embedding; 0: one for each token
  model::WeightType type = model::WeightType::float32;  // the type in the written file
  std::optional<text::PromptRecord> prompt;             // the form of its prompts, if known
  model::ModelConfig shape;  // its vocab_size follows from the fields above
  static Fields<NewModelConfig> fields();
};

// Fails if the directory already holds a model.
Status make_new_model(const std::filesystem::path& directory, const NewModelConfig& config,
                      std::span<const train::SftExample> examples);

}  // namespace tritonsmith::cli
