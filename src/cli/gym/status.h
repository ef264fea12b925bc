// Adds `tritonsmith gym status`, which says how a service, or one of its jobs, is doing.
#pragma once

#include <string>

#include "base/json.h"
#include "cli/call/command.h"

namespace tritonsmith::cli {

void add_gym_status(CLI::App& gym, Run& run);

// The text for an operator. `status` is a reply of /v1/status.
std::string status_text(const std::string& url, const Json& status);

}  // namespace tritonsmith::cli
