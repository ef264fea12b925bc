// HubSettings: where the hub is, where its cache lies, and the user's token. They come from the
// environment variables that huggingface_hub, transformers and datasets read, so that all programs
// of a user share one cache.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"

namespace tritonsmith::hub {

struct HubSettings {
  std::string endpoint = "https://huggingface.co";  // without a slash at its end
  std::filesystem::path cache;
  std::string token;  // empty: none
  bool is_offline = false;
  int attempts = 5;  // in a row that bring no byte
  double first_wait_seconds = 1;
  int downloads = 4;  // files at the same time
};

// Returns the value of an environment variable that is set and not empty.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

//   HF_ENDPOINT                          where the hub is
//   HF_HUB_CACHE, HF_HOME                the cache; default: ~/.cache/huggingface/hub
//   HF_TOKEN, HF_TOKEN_PATH              the token, or the file that holds it
//   HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE the network must not be used
// Fails if the endpoint is no URL, or if no variable says where the cache is.
Result<HubSettings> hub_settings(const Environment& environment = process_environment);

}  // namespace tritonsmith::hub
