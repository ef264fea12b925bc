// The options that eval and write share: how a completion is sampled, and conversations of many
// turns (test-time scaling).
#pragma once

#include "cli/call/command.h"
#include "episode/turns.h"
#include "generate/sampling.h"

namespace tritonsmith::cli {

// --temperature, --top-p, --top-k and --stop, within the ranges of SamplingParams::fields().
void add_sampling_options(CLI::App& command, generate::SamplingParams& sampling);
void add_turns_options(CLI::App& command, episode::TurnsConfig& turns);

}  // namespace tritonsmith::cli
