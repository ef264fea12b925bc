// Suite: tasks from wherever they are: the built-in curriculum, a folder of files in KernelBench's
// layout, or JSONL. Errors are one line that names the file (and the line of a JSONL) and says what
// is missing.
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

// "curriculum"                       the held-out tasks of the default curriculum
// "curriculum:seed=2,train=500"      with options of tasks.h; families are joined by '+'. `train`
// is 0 unless given "quickstart"                       the held-out tasks of the quickstart's
// curriculum; options as above a folder, a .jsonl, or one .py     as the functions below
Result<std::vector<Task>> load_suite(const std::string& spec);

// The lessons of a suite that is made, not read: "curriculum" or "quickstart" with options, as
// above. Nothing for one that is read.
Result<std::optional<std::vector<Lesson>>> load_lessons(const std::string& spec);

// Options of the curriculum as "seed=2" and "families=softmax+norm".
Result<Settings> curriculum_settings(const std::vector<std::string>& overrides);

enum class OnBadTask { stop, skip };

// All .py files below the folder, sorted by path. The id is the path without ".py"
// ("level1/19_ReLU"), the suite the folder's name. Of a KernelBench checkout only the levels are
// read. A file that is no task is an error, or with OnBadTask::skip a log line. A first line
// "# instruction: TEXT" says in words what is to be written; it is no part of the source.
Result<std::vector<Task>> import_folder(const std::filesystem::path& path, OnBadTask on_bad);
Result<Task> import_file(const std::filesystem::path& file, std::string id, std::string suite);

Result<std::vector<Task>> read_task_lines(const std::filesystem::path& file, OnBadTask on_bad);
Status write_task_lines(const std::filesystem::path& file, const std::vector<Task>& tasks);

// One ID.py a task below the folder, which is made; existing files of these names are replaced.
// A task's instruction becomes the file's first line, as above.
Status export_folder(const std::filesystem::path& folder, const std::vector<Task>& tasks);

// Whether a source looks like a task: it defines Model and get_inputs at top level. Only a guest
// can know more.
Status check_task_source(std::string_view source);

}  // namespace tritonsmith::curriculum
