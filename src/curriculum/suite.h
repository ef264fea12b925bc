// Suite: loads tasks from the built-in curriculum, from a folder in KernelBench's layout, or from
// JSONL. An error is one line. It names the file (and the line of a JSONL) and says what is
// missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "curriculum/tasks.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

// Loads the suite that `spec` names:
//
//   "curriculum"                   the held-out tasks of the default curriculum
//   "curriculum:seed=2,train=500"  the same with options of tasks.h; '+' joins several families,
//                                  and `train` is 0 unless given
//   "quickstart"                   the held-out tasks of the quickstart's curriculum; it takes the
//                                  same options
//   "zoo:count=2000,seed=3"        modules of many operators, with options of zoo/zoo.h
//   a folder, a .jsonl or a .py    tasks read by the functions below
Result<std::vector<Task>> load_suite(const std::string& spec);

// Whether `spec` names a zoo, as above.
bool is_zoo(std::string_view spec);

// Returns the tasks of a generated suite: "curriculum" or "quickstart" with options, as above.
// Returns nothing for a suite that is read from files.
Result<std::optional<std::vector<GeneratedTask>>> load_generated_tasks(const std::string& spec);

// Parses options of the curriculum such as "seed=2" and "families=softmax+norm".
Result<Settings> curriculum_settings(const std::vector<std::string>& overrides);

enum class OnBadTask { stop, skip };

// Imports all .py files below the folder, sorted by path. A task's id is its path without ".py"
// ("level1/19_ReLU"), and its suite is the folder's name. In a KernelBench checkout it reads only
// the levels. A file that is no task is an error, or a log line with OnBadTask::skip. A task's
// instruction is a first line "# instruction: TEXT", which is left out of its source.
Result<std::vector<Task>> import_folder(const std::filesystem::path& path, OnBadTask on_bad);
// Removes the line "# instruction: TEXT" from a source, and returns TEXT. export_folder writes it.
std::string take_instruction(std::string& source);
Result<Task> import_file(const std::filesystem::path& file, std::string id, std::string suite);

Result<std::vector<Task>> read_task_lines(const std::filesystem::path& file, OnBadTask on_bad);
Status write_task_lines(const std::filesystem::path& file, const std::vector<Task>& tasks);

// Writes one file ID.py for each task below the folder, which it makes. It replaces existing files
// of these names. A task's instruction becomes the file's first line, as above.
Status export_folder(const std::filesystem::path& folder, const std::vector<Task>& tasks);

// Checks that a source defines Model and get_inputs at top level. Only a guest, which runs the
// source, can check more.
Status check_task_source(std::string_view source);

}  // namespace tritonsmith::curriculum
