#include "model/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <set>

#include "base/file.h"

namespace tritonsmith::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

Result<std::vector<SafetensorsFile>> open_files(const std::set<fs::path>& paths) {
  std::vector<SafetensorsFile> files;
  for (const fs::path& path : paths) {
    TRY_ASSIGN(SafetensorsFile file, SafetensorsFile::open(path));
    files.push_back(std::move(file));
  }
  return files;
}

// The files of a directory's weights: one, or those that the index names.
Result<std::set<fs::path>> weight_files(const fs::path& directory) {
  if (fs::exists(directory / kWeights) || !fs::exists(directory / kIndex))
    return std::set<fs::path>{directory / kWeights};
  const fs::path index_path = directory / kIndex;
  TRY_ASSIGN(const std::string text, read_file(index_path));
  TRY_ASSIGN(const Json index, parse_json(text));
  JsonReader reader(index);
  std::set<fs::path> paths;
  for (const auto& [name, file] : reader.object("weight_map").items()) {
    const fs::path path = file.is_string() ? file.get<std::string>() : "";
    if (path.empty() || path.filename() != path)
      return fail("{}: '{}' lies in no file of this directory", index_path.string(), name);
    paths.insert(directory / path);
  }
  TRY_WITHIN(index_path.string(), reader.status());
  if (paths.empty()) return fail("{}: weight_map is empty", index_path.string());
  return paths;
}

std::string shape_text(at::IntArrayRef shape) {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.end(), ", "));
}

// The file that holds the name; a name in two files is as bad as in none.
Result<const SafetensorsFile*> holder(const std::vector<SafetensorsFile>& files,
                                      const std::string& name) {
  const SafetensorsFile* found = nullptr;
  for (const auto& file : files) {
    if (!file.entries().contains(name)) continue;
    if (found != nullptr)
      return fail("{}: tensor '{}' is also in {}", file.path().string(), name,
                  found->path().string());
    found = &file;
  }
  if (found == nullptr)
    return fail("{}: tensor '{}' is missing", files.front().path().string(), name);
  return found;
}

Status refuse_strangers(const std::vector<SafetensorsFile>& files,
                        std::span<const NamedTensor> targets) {
  std::set<std::string_view> known;
  for (const auto& target : targets) known.insert(target.name);
  for (const auto& file : files)
    for (const auto& [name, entry] : file.entries())
      if (!known.contains(name))
        return fail("{}: tensor '{}' does not belong to this model", file.path().string(), name);
  return ok();
}

Status fill(std::span<const NamedTensor> targets, const std::vector<SafetensorsFile>& files) {
  const at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : targets) {
    TRY_ASSIGN(const SafetensorsFile* file, holder(files, name));
    const auto& entry = file->entries().at(name);
    if (tensor.sizes() != at::IntArrayRef(entry.shape))
      return fail("{}: tensor '{}' has shape {}, but {} is needed", file->path().string(), name,
                  shape_text(entry.shape), shape_text(tensor.sizes()));
    if (tensor.is_floating_point() != c10::isFloatingType(entry.dtype))
      return fail("{}: tensor '{}' is of type {}, but {} is needed", file->path().string(), name,
                  c10::toString(entry.dtype), c10::toString(tensor.scalar_type()));
    TRY_ASSIGN(const at::Tensor value, file->tensor(name));
    tensor.copy_(value);
  }
  return refuse_strangers(files, targets);
}

}  // namespace

Status save_model(const Transformer& model, const fs::path& directory) {
  TRY(make_directories(directory));
  TRY(write_safetensors(directory / kWeights, model.parameters(), {{"format", "pt"}}));
  return write_file_atomic(directory / kConfig, to_json(model.config()).dump(2) + "\n");
}

Result<Transformer> load_model(const fs::path& directory, c10::Device device) {
  TRY_ASSIGN(const ModelConfig config, read_model_config(directory / kConfig));
  TRY_ASSIGN(const auto paths, weight_files(directory));
  TRY_ASSIGN(const auto files, open_files(paths));
  Transformer model(config, device);
  TRY(fill(model.parameters(), files));
  return model;
}

Status read_tensors_into(std::span<const NamedTensor> targets, const fs::path& file) {
  TRY_ASSIGN(const auto files, open_files({file}));
  return fill(targets, files);
}

}  // namespace tritonsmith::model
