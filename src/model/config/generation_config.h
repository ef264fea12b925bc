// Reads generation_config.json, a checkpoint's settings for generation. It reads only the tokens
// that end generation, and the caller chooses how to sample.
#pragma once

#include <filesystem>
#include <vector>

#include "data/completion.h"
#include "model/config/config.h"

namespace tritonsmith::model {

// Returns "eos_token_id" of the file, one or several ids. Without the file it returns the ids of
// config.json. The result may be empty. Fails in one line that names the file if it is damaged or
// names a token outside the vocabulary.
Result<std::vector<TokenId>> end_tokens(const std::filesystem::path& directory,
                                        const ModelConfig& config);

}  // namespace tritonsmith::model
