// generation_config.json: what a checkpoint says about writing with it. Only the tokens that end
// generation are taken from it; how to sample is the caller's choice.
#pragma once

#include <filesystem>
#include <vector>

#include "data/completion.h"
#include "model/config.h"

namespace tritonsmith::model {

// "eos_token_id" of the file, one or several; those of config.json where there is no file. May be
// empty. Fails in one line that names the file when it is damaged, or names a token that the model
// does not have.
Result<std::vector<TokenId>> end_tokens(const std::filesystem::path& directory,
                                        const ModelConfig& config);

}  // namespace tritonsmith::model
