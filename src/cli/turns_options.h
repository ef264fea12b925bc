// The options of eval and write for conversations of many turns (test-time scaling).
#pragma once

#include <string>

#include "cli/command.h"
#include "episode/turns.h"

namespace tritonsmith::cli {

struct TurnsOptions {
  episode::TurnsConfig config;
  std::string context = "all", end_when = "never";
};

void add_turns_options(CLI::App& command, TurnsOptions& options);
Result<episode::TurnsConfig> turns_from(const TurnsOptions& options);

}  // namespace tritonsmith::cli
