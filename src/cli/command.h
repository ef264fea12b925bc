// How a subcommand joins the program: one file defines `void add_<name>_command(CLI::App& app,
// Run& run)`, which adds its options to a subcommand of `app` and, when that subcommand is chosen,
// sets `run` to what it does. The list is in commands.h. A subcommand returns the exit code; a
// Result's error is printed by `finish`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "base/error.h"

namespace tritonsmith::cli {

using Run = std::function<int()>;

// 0 for success; otherwise prints "tritonsmith: MESSAGE" on stderr and returns 1.
int finish(const Status& status);

}  // namespace tritonsmith::cli
