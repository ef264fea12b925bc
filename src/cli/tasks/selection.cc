#include "cli/tasks/selection.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "curriculum/suite.h"

namespace tritonsmith::cli {
namespace {

Status keep_family(std::vector<Task>& tasks, const std::string& family) {
  std::set<std::string> known;
  for (const Task& task : tasks)
    if (!task.family.empty()) known.insert(task.family);
  if (known.empty()) return fail("--family {}: no task of this suite names a family", family);
  if (!known.contains(family))
    return fail("--family {}: the families of this suite are {}", family, fmt::join(known, ", "));
  std::erase_if(tasks, [&](const Task& task) { return task.family != family; });
  return ok();
}

}  // namespace

void add_selection(CLI::App& command, TaskSelection& selection) {
  command.add_option("--split", selection.split, "Take only tasks of this split: train or heldout");
  command.add_option("--family", selection.family, "Take only tasks of this family");
  command.add_option("--limit", selection.limit,
                     "Take only this many tasks from the beginning; 0: all");
}

Status select_tasks(std::vector<Task>& tasks, const TaskSelection& selection) {
  if (!selection.split.empty()) {
    TRY_ASSIGN(const TaskSplit split, enum_from_name<TaskSplit>(selection.split));
    std::erase_if(tasks, [&](const Task& task) { return task.split != split; });
  }
  if (!selection.family.empty()) TRY(keep_family(tasks, selection.family));
  if (selection.limit > 0 && tasks.size() > selection.limit) tasks.resize(selection.limit);
  return ok();
}

Result<std::vector<Task>> selected_suite(const TaskSelection& selection) {
  TRY_ASSIGN(std::vector<Task> tasks, curriculum::load_suite(selection.suite));
  TRY(select_tasks(tasks, selection));
  return tasks;
}

}  // namespace tritonsmith::cli
