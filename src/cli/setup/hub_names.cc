#include "cli/setup/hub_names.h"

#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "datasets/dataset.h"

namespace tritonsmith::cli {
namespace {

namespace fs = std::filesystem;

// Nothing: a path is meant.
std::optional<hub::HubName> name_of_hub(const std::string& name) {
  std::error_code error;
  if (fs::exists(name, error)) return std::nullopt;
  auto parsed = hub::parse_hub_name(name);
  if (parsed && fs::exists(parsed->id.substr(0, parsed->id.find('/')), error)) return std::nullopt;
  return parsed;
}

// The user may have meant a folder.
tl::unexpected<Error> not_found(const Error& error) {
  return tl::unexpected(
      Error{error.message + "; there is no folder of this name here", error.kind});
}

Result<std::string> fetch_dataset(const hub::HubName& name, const DatasetOptions& options) {
  constexpr const char* kReadme = "README.md";
  TRY_ASSIGN(const hub::HubSettings settings, hub::hub_settings());
  TRY_ASSIGN(const auto repository,
             hub::Repository::open(settings, hub::RepositoryKind::dataset, name));
  std::string readme;
  if (repository.has(kReadme)) {
    TRY(repository.fetch({kReadme}));
    TRY_ASSIGN(readme, read_file(repository.folder() / kReadme));
  }
  std::vector<std::string> files;
  for (const hub::RemoteFile& each : repository.files()) files.push_back(each.path);
  TRY_ASSIGN(
      const auto wanted,
      datasets::files_of_split({.path = name.id, .config = options.config, .split = options.split},
                               readme, files));
  TRY(repository.fetch(wanted));
  LOG("{}: commit {} in {}", name.id, repository.commit(), repository.folder().string());
  return repository.folder().string();
}

}  // namespace

Result<std::string> model_directory(const std::string& name, hub::ModelPart part) {
  const auto on_hub = name_of_hub(name);
  if (!on_hub) return name;
  TRY_ASSIGN(const hub::HubSettings settings, hub::hub_settings());
  const auto folder = hub::fetch_model(settings, *on_hub, part);
  if (!folder) return not_found(folder.error());
  return folder->string();
}

Result<UnaskedModel> unasked_model_directory(const std::string& name) {
  const auto on_hub = name_of_hub(name);
  if (!on_hub) return UnaskedModel{.directory = name, .fetched = ""};
  TRY_ASSIGN(hub::HubSettings settings, hub::hub_settings());
  if (settings.is_offline) {
    TRY_ASSIGN(std::string directory, model_directory(name));
    return UnaskedModel{.directory = std::move(directory), .fetched = ""};
  }
  settings.is_offline = true;
  const auto folder = hub::fetch_model(settings, *on_hub, hub::ModelPart::model);
  if (!folder)
    return UnaskedModel{.directory = "",
                        .fetched = fmt::format("{} from {} into {}", name, settings.endpoint,
                                               settings.cache.string())};
  if (!hub::is_commit(on_hub->revision))
    LOG("{}: a dry run asks no hub; a call would look for a newer commit at {}", name,
        settings.endpoint);
  return UnaskedModel{.directory = folder->string(), .fetched = ""};
}

Status find_dataset(DatasetOptions& options) {
  const auto on_hub = name_of_hub(options.path);
  if (!on_hub) return ok();
  auto folder = fetch_dataset(*on_hub, options);
  if (!folder) return not_found(folder.error());
  options.path = *std::move(folder);
  options.dataset = on_hub->id;
  return ok();
}

}  // namespace tritonsmith::cli
