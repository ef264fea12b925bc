// Runs `tritonsmith gym serve`, which offers this machine's judge as a service (docs/service.md),
// or is an API server of a store that many hosts share (docs/many-hosts.md).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tritonsmith::cli {

struct ServeOptions {
  std::string listen, store, verdict_key_file, directory, suite, token_file, tokens_file,
      config_file;
  std::vector<std::string> settings;
};

// Runs until SIGINT or SIGTERM.
Status serve_gym(const ServeOptions& options);
// Returns the keys of its config file.
std::string gym_config_help();

}  // namespace tritonsmith::cli
