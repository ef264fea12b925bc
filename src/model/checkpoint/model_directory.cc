#include "model/checkpoint/model_directory.h"

#include <string>

namespace tritonsmith::model {
namespace {

namespace fs = std::filesystem;

bool has(const fs::path& directory, const char* name) {
  std::error_code ignored;
  return fs::exists(directory / name, ignored);
}

Status check_there(const fs::path& directory) {
  std::error_code ignored;
  if (fs::is_directory(directory, ignored)) return ok();
  return fail("{} {}; name a model's directory, or OWNER/NAME of the hub", directory.string(),
              fs::exists(directory, ignored) ? "is no directory" : "does not exist");
}

}  // namespace

Status check_model_directory(const fs::path& directory) {
  TRY(check_there(directory));
  const std::string name = directory.string();
  if (!has(directory, "config.json")) {
    if (has(directory, "adapter_config.json"))
      return fail(
          "{} is a LoRA adapter; name the model that it was trained on, and this as the "
          "adapter",
          name);
    if (has(directory, "checkpoints"))
      return fail("{} is a run; name one of its models: {}/checkpoints/step-N", name, name);
    return fail("{} has no config.json; name a directory in Hugging Face's layout", name);
  }
  if (has(directory, "model.safetensors") || has(directory, "model.safetensors.index.json"))
    return ok();
  const bool is_pickled =
      has(directory, "pytorch_model.bin") || has(directory, "pytorch_model.bin.index.json");
  return fail("{} has no model.safetensors{}", name,
              is_pickled
                  ? "; save the model with safe_serialization=True, as this program reads no "
                    "pytorch_model.bin"
                  : " beside its config.json; name a directory with weights");
}

Status check_adapter_directory(const fs::path& directory) {
  TRY(check_there(directory));
  for (const char* each : {"adapter_config.json", "adapter_model.safetensors"})
    if (!has(directory, each))
      return fail(
          "{} has no {}; name a LoRA adapter in PEFT's layout, such as "
          "RUN/checkpoints/step-N/adapter",
          directory.string(), each);
  return ok();
}

}  // namespace tritonsmith::model
