#include "model/checkpoint/export_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "model/weights/safetensors.h"

namespace tritonsmith::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOnlyFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

// Returns the future tensors with their types, without contents.
std::vector<NamedTensor> announced(const std::vector<NamedTensor>& parameters,
                                   c10::ScalarType type) {
  std::vector<NamedTensor> all;
  for (const NamedTensor& each : parameters)
    all.push_back({each.name, at::empty(each.tensor.sizes(),
                                        at::TensorOptions(type).device(c10::DeviceType::Meta))});
  return all;
}

// Returns the end of each file. A file takes tensors in their order while they fit.
std::vector<std::size_t> file_ends(const std::vector<NamedTensor>& tensors, std::int64_t most) {
  std::vector<std::size_t> ends;
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto size = static_cast<std::int64_t>(tensors[i].tensor.nbytes());
    if (bytes > 0 && size > most - bytes) {
      ends.push_back(i);
      bytes = 0;
    }
    bytes += size;
  }
  ends.push_back(tensors.size());
  return ends;
}

std::string file_name(std::size_t file, std::size_t files) {
  return files == 1 ? kOnlyFile : fmt::format("model-{:05}-of-{:05}.safetensors", file + 1, files);
}

Status refuse_weights(const fs::path& directory) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(directory, code))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("model") && name.find(".safetensors") != std::string::npos)
      return fail("{} has weights already ({}); name another directory", directory.string(), name);
  return ok();
}

Status write_index(const fs::path& directory, const Json& map, std::size_t bytes) {
  const Json index = {{"metadata", {{"total_size", bytes}}}, {"weight_map", map}};
  return write_file_atomic(directory / kIndexFile, index.dump(2) + "\n");
}

}  // namespace

c10::ScalarType scalar_type_of(WeightType type) {
  switch (type) {
    case WeightType::float32:
      return c10::kFloat;
    case WeightType::bfloat16:
      return c10::kBFloat16;
    case WeightType::float16:
      return c10::kHalf;
  }
  return c10::kFloat;
}

Status export_model(const Transformer& model, const fs::path& directory,
                    const ExportFormat& format) {
  TRY(make_directories(directory));
  TRY(refuse_weights(directory));
  const c10::ScalarType type = scalar_type_of(format.type);
  const std::vector<NamedTensor>& parameters = model.parameters();
  const std::vector<NamedTensor> all = announced(parameters, type);
  const auto ends = file_ends(all, format.file_bytes);
  Json map = Json::object();
  std::size_t bytes = 0, begin = 0;
  for (std::size_t file = 0; file < ends.size(); ++file) {
    const std::string name = file_name(file, ends.size());
    const std::span tensors = std::span(all).subspan(begin, ends[file] - begin);
    for (const NamedTensor& each : tensors) {
      map[each.name] = name;
      bytes += each.tensor.nbytes();
    }
    std::size_t next = begin;  // write_safetensors asks for the tensors in their order
    const auto rounded = [&](const NamedTensor&) {
      return parameters[next++].tensor.detach().to(type);
    };
    TRY(write_safetensors(directory / name, tensors, {{"format", "pt"}}, rounded));
    begin = ends[file];
  }
  if (ends.size() > 1) TRY(write_index(directory, map, bytes));
  Json config = to_json(model.config());
  config["torch_dtype"] = name_of(format.type);
  return write_file_atomic(directory / "config.json", config.dump(2) + "\n");
}

}  // namespace tritonsmith::model
