// Reads the task of `judge`, `write` and `tasks from-module`. It is a file in KernelBench's format,
// or a class or a function of the user's code with the arguments of its call.
#pragma once

#include <string>
#include <vector>

#include "cli/call/command.h"
#include "modules/module_task.h"

namespace tritonsmith::cli {

inline constexpr const char* kTaskHelp =
    "A file with Model, get_inputs and get_init_inputs, or a class or function of your code: "
    "FILE.py:NAME or package.module:NAME, with --inputs";

struct ModuleOptions {
  std::vector<std::string> inputs;
  std::string init, dtype, captured;
  std::size_t most_captured = 4;  // kinds of calls that are taken from --captured
};

// Adds --inputs, --init, --dtype and --captured.
void add_module_options(CLI::App& command, ModuleOptions& options);

// Makes a task for each --inputs, at least one. A file in KernelBench's format gives its task alone.
Result<modules::ModuleTasks> read_tasks(const std::string& name, const ModuleOptions& options);

}  // namespace tritonsmith::cli
