#include "hub/model_files.h"

#include <set>

#include "base/file.h"
#include "base/log.h"

namespace tritonsmith::hub {
namespace {

constexpr const char* kWeights = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

std::vector<std::string> those_there(const Repository& repository,
                                     std::initializer_list<const char*> names) {
  std::vector<std::string> there;
  for (const char* each : names)
    if (repository.has(each)) there.emplace_back(each);
  return there;
}

Result<std::vector<std::string>> shards_in(const std::filesystem::path& index) {
  TRY_ASSIGN(const std::string text, read_file(index));
  const auto json = parse_json(text);
  if (!json) return tl::unexpected(json.error().within(index.string()));
  if (!json->is_object()) return fail("{}: is no object", index.string());
  JsonReader reader(*json);
  std::set<std::string> shards;
  for (const auto& [tensor, file] : reader.object("weight_map").items()) {
    if (!file.is_string()) return fail("{}: '{}' has no file", index.string(), tensor);
    shards.insert(file.get<std::string>());
  }
  TRY(reader.status());
  return std::vector<std::string>(shards.begin(), shards.end());
}

Status fetch_weights(const Repository& repository) {
  if (repository.has(kWeights)) return repository.fetch({kWeights});
  if (!repository.has(kIndex))
    return fail("{} has no {}: this program reads weights in no other format", repository.id(),
                kWeights);
  TRY(repository.fetch({kIndex}));
  TRY_ASSIGN(const auto shards, shards_in(repository.folder() / kIndex));
  return repository.fetch(shards);
}

}  // namespace

Result<std::filesystem::path> fetch_model(const HubSettings& settings, const HubName& name,
                                          ModelPart part) {
  TRY_ASSIGN(const Repository repository, Repository::open(settings, RepositoryKind::model, name));
  if (part == ModelPart::adapter) {
    TRY(repository.fetch({"adapter_config.json", "adapter_model.safetensors"}));
  } else {
    if (!repository.has("config.json"))
      return fail("{} has no config.json: it is no model in the layout of transformers", name.id);
    TRY(repository.fetch(those_there(
        repository, {"config.json", "generation_config.json", "tokenizer.json",
                     "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
                     "vocab.json", "merges.txt", "chat_template.jinja", "prompt.json"})));
    TRY(fetch_weights(repository));
  }
  LOG("{}: commit {} in {}", name.id, repository.commit(), repository.folder().string());
  return repository.folder();
}

}  // namespace tritonsmith::hub
