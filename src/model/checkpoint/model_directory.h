// Checks whether a directory holds a model at all. The user may have named a run, an adapter, or a
// path that does not exist. The error says what to name instead.
#pragma once

#include <filesystem>

#include "base/error.h"

namespace tritonsmith::model {

// Looks for config.json and for weights as safetensors. It reads neither.
Status check_model_directory(const std::filesystem::path& directory);

// Likewise for a LoRA adapter in PEFT's layout.
Status check_adapter_directory(const std::filesystem::path& directory);

}  // namespace tritonsmith::model
