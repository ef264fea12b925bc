// Fetches the files of a model on the hub that this program reads, and no others: a repository may
// hold the same weights in several formats.
#pragma once

#include "hub/repository.h"

namespace tritonsmith::hub {

enum class ModelPart { model, adapter };  // adapter: PEFT's layout

// Fetches the files and returns the folder that holds them. Fails if the repository has no weights
// as safetensors.
Result<std::filesystem::path> fetch_model(const HubSettings& settings, const HubName& name,
                                          ModelPart part);

}  // namespace tritonsmith::hub
