// `tritonsmith gym serve`: the judge of this machine as a service (docs/service.md).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tritonsmith::cli {

struct ServeOptions {
  std::string listen, directory, token_file, config_file;
  std::vector<std::string> settings;
};

// Until SIGINT or SIGTERM.
Status serve_gym(const ServeOptions& options);
// The keys of its config file.
std::string gym_config_help();

}  // namespace tritonsmith::cli
