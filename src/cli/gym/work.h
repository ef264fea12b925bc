// `tritonsmith gym work`: this machine's judge as a worker of a store that many hosts share
// (docs/many-hosts.md).
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace tritonsmith::cli {

struct WorkOptions {
  std::string store, directory, config_file;
  std::vector<std::string> settings;
  double drain_seconds = 600;
};

// Runs until SIGINT or SIGTERM, and then finishes the jobs that it has.
Status work_for_store(const WorkOptions& options);
// Returns the keys of its config file.
std::string work_config_help();

}  // namespace tritonsmith::cli
