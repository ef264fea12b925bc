// A model from scratch, to be trained: a tokenizer learnt from examples and random weights of a
// given shape, as a model directory. What `model make` and the quickstart share.
#pragma once

#include <filesystem>
#include <span>

#include "model/config.h"
#include "text/prompt_record.h"
#include "text/tokenizer.h"
#include "train/sft_examples.h"

namespace tritonsmith::cli {

// What the weights are written in.
enum class WeightType { float32, bfloat16 };

struct NewModelConfig {
  std::uint64_t seed = 1;
  int vocabulary = 1024;  // tokens
  text::PieceRule pieces = text::PieceRule::phrases;
  std::int64_t vocab_size = 0;  // rows of the embedding; 0: one for each token
  WeightType type = WeightType::float32;
  std::optional<text::PromptRecord> prompt;  // how it will be asked, where known
  model::ModelConfig shape;                  // with the vocab_size that comes of these
  static Fields<NewModelConfig> fields();
};

// Fails when the directory holds a model already.
Status make_new_model(const std::filesystem::path& directory, const NewModelConfig& config,
                      std::span<const train::SftExample> examples);

}  // namespace tritonsmith::cli

namespace tritonsmith {
template <>
inline constexpr auto enum_names<cli::WeightType> = names<cli::WeightType>(
    {{cli::WeightType::float32, "float32"}, {cli::WeightType::bfloat16, "bfloat16"}});
}  // namespace tritonsmith
