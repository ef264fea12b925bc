// A model from scratch, to be trained: a tokenizer learnt from examples and random weights of a
// given shape, as a model directory. What `model make` and the quickstart share.
#pragma once

#include <filesystem>
#include <span>

#include "model/config.h"
#include "train/sft_examples.h"

namespace tritonsmith::cli {

struct NewModelConfig {
  std::uint64_t seed = 1;
  int vocabulary = 1024;     // tokens
  model::ModelConfig shape;  // its vocab_size follows from the tokenizer
  static Fields<NewModelConfig> fields();
};

// Fails when the directory holds a model already.
Status make_new_model(const std::filesystem::path& directory, const NewModelConfig& config,
                      std::span<const train::SftExample> examples);

}  // namespace tritonsmith::cli
