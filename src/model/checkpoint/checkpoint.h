// Saves and loads a model as a directory in Hugging Face's layout: config.json and
// model.safetensors. Reading also accepts several weight files, listed by
// model.safetensors.index.json. `transformers` reads the files that save_model writes.
#pragma once

#include <filesystem>

#include "model/transformer/transformer.h"

namespace tritonsmith::model {

// Makes the directory if it is missing. Each file is replaced whole or not at all.
Status save_model(const Transformer& model, const std::filesystem::path& directory);
// Saves a model from its parameters. With `content`, each tensor is first converted by it
// (safetensors.h).
Status save_model(const ModelConfig& config, std::span<const NamedTensor> parameters,
                  const std::filesystem::path& directory, const TensorContent& content = {});

// Loads a model. Weights of any float type become float32. All threads read the mapped files, and
// host memory holds only the part that is being copied. Fails in one line that names the file. The
// causes are a missing or superfluous tensor, a wrong shape, or a damaged file.
Result<Transformer> load_model(const std::filesystem::path& directory,
                               c10::Device device = c10::kCPU);

// Copies a model's other files, such as the tokenizer and generation_config.json. It skips files
// that do not exist.
Status copy_companions(const std::filesystem::path& from, const std::filesystem::path& to);

// Fills existing tensors (of a resumed optimizer or a model) from a file. The file must hold
// exactly these names and shapes.
Status read_tensors_into(std::span<const NamedTensor> targets, const std::filesystem::path& file);

}  // namespace tritonsmith::model
