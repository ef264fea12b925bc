// Runs `tritonsmith gym work`: this machine's judge works for a store that many hosts share
// (docs/many-hosts.md).
#pragma once

#include <string>
#include <vector>

#include "base/enum_names.h"
#include "base/error.h"

namespace tritonsmith::cli {

// The half of the work that a host does: it captures and compiles candidates, or judges what other
// hosts captured, or both.
enum class WorkRole { all, capture, judge };

struct WorkOptions {
  std::string store, directory, config_file;
  std::string capture_key_file, verdict_key_file;
  std::string metrics;  // HOST:PORT where Prometheus reads; empty: nowhere
  WorkRole role = WorkRole::all;
  std::vector<std::string> settings;
  double drain_seconds = 600;
};

// Runs until SIGINT or SIGTERM, and then finishes the jobs that it has.
Status work_for_store(const WorkOptions& options);
// Returns the keys of its config file.
std::string work_config_help();

}  // namespace tritonsmith::cli

namespace tritonsmith {
template <>
inline constexpr auto enum_names<cli::WorkRole> =
    names<cli::WorkRole>({{cli::WorkRole::all, "all"},
                          {cli::WorkRole::capture, "capture"},
                          {cli::WorkRole::judge, "judge"}});
}  // namespace tritonsmith
