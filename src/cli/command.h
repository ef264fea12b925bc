// The form of a subcommand. One file defines `void add_<name>_command(CLI::App& app, Run& run)`.
// The function adds the subcommand's options to `app`, and sets `run` to its action if the user
// chooses it. commands.h has the list. A subcommand returns the exit code, and `finish` prints the
// error of a Result.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"

namespace tritonsmith::cli {

using Run = std::function<int()>;

// Returns 0 for success. Otherwise prints "tritonsmith: MESSAGE" on stderr and returns 1.
int finish(const Status& status);

}  // namespace tritonsmith::cli
