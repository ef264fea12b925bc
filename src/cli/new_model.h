// A model from scratch, to be trained: a tokenizer learnt from examples and random weights of a
// given shape, as a model directory. What `model make` and the quickstart share.
#pragma once

#include <filesystem>
#include <span>

#include "model/config.h"
#include "model/export_model.h"
#include "text/prompt_record.h"
#include "text/tokenizer.h"
#include "train/sft_examples.h"

namespace tritonsmith::cli {

struct NewModelConfig {
  std::uint64_t seed = 1;
  int vocabulary = 1024;  // tokens
  text::PieceRule pieces = text::PieceRule::phrases;
  std::int64_t vocab_size = 0;  // rows of the embedding; 0: one for each token
  model::WeightType type = model::WeightType::float32;  // that is written
  // How it will be asked; without, as the examples were asked, where they say so.
  std::optional<text::PromptRecord> prompt;
  model::ModelConfig shape;  // with the vocab_size that comes of these
  static Fields<NewModelConfig> fields();
};

// Fails when the directory holds a model already.
Status make_new_model(const std::filesystem::path& directory, const NewModelConfig& config,
                      std::span<const train::SftExample> examples);

}  // namespace tritonsmith::cli
