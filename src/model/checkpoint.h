// A model as a directory in Hugging Face's layout: config.json and model.safetensors (or, when
// reading, several files listed by model.safetensors.index.json). `transformers` reads what
// save_model writes.
#pragma once

#include <filesystem>

#include "model/transformer.h"

namespace tritonsmith::model {

// Each file is replaced whole or not at all; the directory is made when missing.
Status save_model(const Transformer& model, const std::filesystem::path& directory);
// The same from the parameters of such a model, or (safetensors.h) from what `content` makes of
// them.
Status save_model(const ModelConfig& config, std::span<const NamedTensor> parameters,
                  const std::filesystem::path& directory, const TensorContent& content = {});

// Weights of any float type become float32. The files are mapped and read by all threads; host
// memory holds no more of them than is being copied. Fails in one line that names the file when a
// tensor is missing, too many, of the wrong shape, or the file is damaged.
Result<Transformer> load_model(const std::filesystem::path& directory,
                               c10::Device device = c10::kCPU);

// The files that belong to a model beside its weights, tokenizer and generation_config.json among
// them; those that are not there are left out.
Status copy_companions(const std::filesystem::path& from, const std::filesystem::path& to);

// Fills tensors that exist already (a resumed optimizer, a model) from a file that must hold
// exactly these names and shapes.
Status read_tensors_into(std::span<const NamedTensor> targets, const std::filesystem::path& file);

}  // namespace tritonsmith::model
