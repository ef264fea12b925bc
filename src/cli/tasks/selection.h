// Selects the tasks of a suite by --split, --family and --limit.
#pragma once

#include <string>
#include <vector>

#include "cli/call/command.h"
#include "data/task.h"

namespace tritonsmith::cli {

struct TaskSelection {
  std::string suite, split, family;
  std::size_t limit = 0;
};

void add_selection(CLI::App& command, TaskSelection& selection);
Status select_tasks(std::vector<Task>& tasks, const TaskSelection& selection);
Result<std::vector<Task>> selected_suite(const TaskSelection& selection);

}  // namespace tritonsmith::cli
