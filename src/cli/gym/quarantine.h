// Adds `tritonsmith gym quarantine`, with its actions list, add and clear. An operator decides here
// which GPUs judge no more.
#pragma once

#include "cli/call/command.h"
#include "cli/gym/text_table.h"

namespace tritonsmith::cli {

void add_gym_quarantine(CLI::App& gym, Run& run);

// The GPUs of a reply's member "quarantine" or "gpus", a row each.
TextTable quarantine_table(const Json& gpus);

}  // namespace tritonsmith::cli
