// The options of eval and write for conversations of many turns (test-time scaling).
#pragma once

#include "cli/call/command.h"
#include "episode/turns.h"

namespace tritonsmith::cli {

void add_turns_options(CLI::App& command, episode::TurnsConfig& turns);

}  // namespace tritonsmith::cli
