#include "model/checkpoint/checkpoint.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/file.h"
#include "model/checkpoint/model_directory.h"

namespace tritonsmith::model {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";
constexpr const char* kModelFile = "model.safetensors";
constexpr const char* kCompanions[] = {"tokenizer.json",          "tokenizer_config.json",
                                       "special_tokens_map.json", "chat_template.jinja",
                                       "generation_config.json",  "prompt.json"};
constexpr const char* kHead = "lm_head.weight";
constexpr const char* kEmbedding = "model.embed_tokens.weight";
constexpr const char* kIndex = "model.safetensors.index.json";

Result<std::vector<SafetensorsFile>> open_files(const std::set<fs::path>& paths) {
  std::vector<SafetensorsFile> files;
  for (const fs::path& path : paths) {
    TRY_ASSIGN(SafetensorsFile file, SafetensorsFile::open(path));
    files.push_back(std::move(file));
  }
  return files;
}

// Returns the directory's weight files: one file, or those that the index names.
Result<std::set<fs::path>> weight_files(const fs::path& directory) {
  if (fs::exists(directory / kModelFile) || !fs::exists(directory / kIndex))
    return std::set<fs::path>{directory / kModelFile};
  const fs::path index_path = directory / kIndex;
  TRY_ASSIGN(const std::string text, read_file(index_path));
  const auto index = parse_json(text);
  if (!index) return tl::unexpected<Error>(index.error().within(index_path.string()));
  JsonReader reader(*index);
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

// Returns the file that holds the name. A name in two files is an error, like a name in none.
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
  if (found != nullptr) return found;
  const fs::path& first = files.front().path();
  if (files.size() == 1) return fail("{}: tensor '{}' is missing", first.string(), name);
  return fail("{}: tensor '{}' is in none of its {} files", (first.parent_path() / kIndex).string(),
              name, files.size());
}

// Older files contain buffers that follow from the config.
bool is_derived(std::string_view name) { return name.ends_with("rotary_emb.inv_freq"); }

Status refuse_strangers(const std::vector<SafetensorsFile>& files,
                        std::span<const NamedTensor> targets, const char* copy) {
  std::set<std::string_view> known;
  if (copy != nullptr) known.insert(copy);
  for (const auto& target : targets) known.insert(target.name);
  for (const auto& file : files)
    for (const auto& [name, entry] : file.entries())
      if (!known.contains(name) && !is_derived(name))
        return fail("{}: tensor '{}' does not belong to this model", file.path().string(), name);
  return ok();
}

Status check_fits(const NamedTensor& target, const SafetensorsFile& file) {
  const auto& entry = file.entries().at(target.name);
  if (target.tensor.sizes() != at::IntArrayRef(entry.shape))
    return fail("{}: tensor '{}' has shape {}, but {} is needed", file.path().string(), target.name,
                shape_text(entry.shape), shape_text(target.tensor.sizes()));
  if (target.tensor.is_floating_point() != c10::isFloatingType(entry.dtype))
    return fail("{}: tensor '{}' is of type {}, but {} is needed", file.path().string(),
                target.name, c10::toString(entry.dtype),
                c10::toString(target.tensor.scalar_type()));
  return ok();
}

// A piece that is copied at a time.
struct Part {
  at::Tensor target, source;
  const SafetensorsFile* file = nullptr;
};

// Splits large tensors into blocks of rows, which limits the part of the files in memory.
void append_parts(std::vector<Part>& parts, const at::Tensor& target, const at::Tensor& source,
                  const SafetensorsFile* file) {
  constexpr std::int64_t kBytesAtOnce = std::int64_t{16} << 20;
  if (source.dim() == 0 || source.numel() == 0) return parts.push_back({target, source, file});
  const std::int64_t rows = source.size(0);
  const std::int64_t row_bytes =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(source.nbytes()) / rows);
  const std::int64_t step = std::max<std::int64_t>(1, kBytesAtOnce / row_bytes);
  for (std::int64_t begin = 0; begin < rows; begin += step) {
    const std::int64_t count = std::min(step, rows - begin);
    parts.push_back({target.narrow(0, begin, count), source.narrow(0, begin, count), file});
  }
}

// Copies part by part. All of LibTorch's threads, or the GPU's driver, copy a part. Memory then
// holds only the part that is being copied.
void read_parts(const std::vector<Part>& parts) {
  const at::NoGradGuard no_grad;
  for (const Part& part : parts) {
    // The narrow type goes to the device first. That sends half as many bytes, and the device
    // widens them.
    at::Tensor target = part.target;
    target.copy_(part.source.to(target.device()));
    part.file->release(part.source);
  }
}

// `copy` names a tensor that may be present without being needed, or is null.
Status fill(std::span<const NamedTensor> targets, const std::vector<SafetensorsFile>& files,
            const char* copy) {
  const at::NoGradGuard no_grad;
  std::vector<Part> parts;
  for (const auto& target : targets) {
    TRY_ASSIGN(const SafetensorsFile* file, holder(files, target.name));
    TRY(check_fits(target, *file));
    TRY_ASSIGN(const at::Tensor source, file->view(target.name));
    append_parts(parts, target.tensor, source, file);
  }
  TRY(refuse_strangers(files, targets, copy));
  read_parts(parts);
  return ok();
}

// Some files contain a tied head as well. It must equal the embedding.
Status check_tied_head(const std::vector<SafetensorsFile>& files) {
  const auto has_head = [](const SafetensorsFile& file) { return file.entries().contains(kHead); };
  const auto file = std::ranges::find_if(files, has_head);
  if (file == files.end()) return ok();
  TRY_ASSIGN(const SafetensorsFile* other, holder(files, kEmbedding));
  TRY_ASSIGN(const at::Tensor head, file->view(kHead));
  TRY_ASSIGN(const at::Tensor embedding, other->view(kEmbedding));
  const bool same = head.scalar_type() == embedding.scalar_type() && at::equal(head, embedding);
  file->release(head);
  other->release(embedding);
  if (!same)
    return fail("{}: tie_word_embeddings is true, but '{}' is not '{}'", file->path().string(),
                kHead, kEmbedding);
  return ok();
}

}  // namespace

Status save_model(const ModelConfig& config, std::span<const NamedTensor> parameters,
                  const fs::path& directory, const TensorContent& content) {
  TRY(make_directories(directory));
  TRY(write_safetensors(directory / kModelFile, parameters, {{"format", "pt"}}, content));
  return write_file_atomic(directory / kConfig, to_json(config).dump(2) + "\n");
}

Status save_model(const Transformer& model, const fs::path& directory) {
  return save_model(model.config(), model.parameters(), directory);
}

Result<Transformer> load_model(const fs::path& directory, c10::Device device) {
  TRY(check_model_directory(directory));
  TRY_ASSIGN(const ModelConfig config, read_model_config(directory / kConfig));
  TRY_ASSIGN(const auto paths, weight_files(directory));
  TRY_ASSIGN(const auto files, open_files(paths));
  Transformer model(config, device);
  const bool tied = config.tie_word_embeddings;
  if (tied) TRY(check_tied_head(files));
  TRY(fill(model.parameters(), files, tied ? kHead : nullptr));
  return model;
}

Status copy_companions(const fs::path& from, const fs::path& to) {
  for (const char* name : kCompanions) {
    std::error_code code;
    if (!fs::exists(from / name, code)) continue;
    fs::copy_file(from / name, to / name, fs::copy_options::overwrite_existing, code);
    if (code) return fail("cannot copy {}: {}", (from / name).string(), code.message());
  }
  return ok();
}

Status read_tensors_into(std::span<const NamedTensor> targets, const fs::path& file) {
  TRY_ASSIGN(const auto files, open_files({file}));
  return fill(targets, files, nullptr);
}

}  // namespace tritonsmith::model
