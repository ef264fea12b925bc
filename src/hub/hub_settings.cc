#include "hub/hub_settings.h"

#include <algorithm>
#include <cstdlib>

#include "base/file.h"

namespace tritonsmith::hub {
namespace {

namespace fs = std::filesystem;

bool is_true(std::optional<std::string> value) {
  if (!value) return false;
  std::ranges::transform(*value, value->begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return *value == "1" || *value == "ON" || *value == "YES" || *value == "TRUE";
}

fs::path below_home(const std::string& path, const Environment& environment) {
  const auto home = environment("HOME");
  if (!path.starts_with("~/") || !home) return path;
  return fs::path(*home) / path.substr(2);
}

Result<fs::path> home_of_hub(const Environment& environment) {
  if (const auto named = environment("HF_HOME")) return below_home(*named, environment);
  if (const auto cache = environment("XDG_CACHE_HOME"))
    return below_home(*cache, environment) / "huggingface";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache" / "huggingface";
  return fail("HF_HOME is not set, and there is no home directory: say where the hub's cache is");
}

std::string trimmed(std::string text) {
  const auto is_space = [](unsigned char c) { return std::isspace(c) != 0; };
  std::erase_if(text, is_space);
  return text;
}

// An unreadable file is as good as none: the hub says whether a token is needed.
std::string token_in(const Environment& environment, const fs::path& home) {
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto token = environment(name)) return trimmed(*token);
  if (is_true(environment("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) return {};
  const auto named = environment("HF_TOKEN_PATH");
  const auto text = read_file(named ? below_home(*named, environment) : home / "token");
  return text ? trimmed(*text) : "";
}

bool is_url(const std::string& text) {
  const bool has_scheme = text.starts_with("http://") || text.starts_with("https://");
  return has_scheme && text.size() > text.find("//") + 2 &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '@'; });
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

Result<HubSettings> hub_settings(const Environment& environment) {
  HubSettings settings;
  TRY_ASSIGN(const fs::path home, home_of_hub(environment));
  settings.cache = home / "hub";
  for (const char* name : {"HUGGINGFACE_HUB_CACHE", "HF_HUB_CACHE"})
    if (const auto cache = environment(name)) settings.cache = below_home(*cache, environment);
  if (const auto endpoint = environment("HF_ENDPOINT")) settings.endpoint = *endpoint;
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  if (!is_url(settings.endpoint))
    return fail("HF_ENDPOINT: '{}' is no URL, as in https://huggingface.co", settings.endpoint);
  settings.token = token_in(environment, home);
  settings.is_offline =
      is_true(environment("HF_HUB_OFFLINE")) || is_true(environment("TRANSFORMERS_OFFLINE"));
  return settings;
}

}  // namespace tritonsmith::hub
