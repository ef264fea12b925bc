#include "curriculum/suite.h"

#include <algorithm>

#include "base/file.h"
#include "base/log.h"
#include "curriculum/tasks.h"
#include "curriculum/zoo/zoo.h"

namespace tritonsmith::curriculum {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool defines(std::string_view source, std::string_view definition) {
  for (std::size_t at = source.find(definition); at != std::string_view::npos;
       at = source.find(definition, at + 1)) {
    const std::size_t end = at + definition.size();
    const bool whole =
        end < source.size() && (source[end] == '(' || source[end] == ':' || source[end] == ' ');
    if (whole && (at == 0 || source[at - 1] == '\n')) return true;
  }
  return false;
}

bool names_a_model(std::string_view source) {
  return defines(source, "class Model") || defines(source, "Model");  // `Model = Other` counts too
}

// Adds a task. For a bad task it returns a one-line reason, or logs the reason with
// OnBadTask::skip.
Status take(std::vector<Task>& tasks, Result<Task> task, OnBadTask on_bad) {
  if (task) {
    tasks.push_back(*std::move(task));
    return ok();
  }
  if (on_bad == OnBadTask::stop) return tl::unexpected(task.error());
  LOG("skipped: {}", task.error().message);
  return ok();
}

Result<Task> task_of_line(const std::string& line, const std::string& location, bool last) {
  auto json = parse_json(line);
  if (!json)
    return fail("{}: {}{}", location, json.error().message, last ? " (is the file cut off?)" : "");
  auto task = task_from_json(*json);
  if (!task) return tl::unexpected(task.error().within(location));
  if (auto good = check_task_source(task->source); !good)
    return tl::unexpected(good.error().within(location));
  return task;
}

// Returns the folder with the levels if `folder` is the root of a KernelBench checkout, which also
// holds scripts.
fs::path without_scripts(const fs::path& folder) {
  std::error_code error;
  const fs::path levels = folder / "KernelBench";
  return fs::is_directory(levels / "level1", error) ? levels : folder;
}

constexpr std::string_view kInstruction = "# instruction: ";

constexpr std::string_view kZoo = "zoo";

// The tasks of "zoo" or "zoo:OPTIONS"; nothing for another suite.
Result<std::optional<std::vector<Task>>> load_zoo(const std::string& spec) {
  if (!is_zoo(spec)) return std::nullopt;
  zoo::ZooOptions options;
  TRY_ASSIGN(const Settings settings,
             settings_from_overrides(split_at(
                 std::string_view(spec).substr(std::min(kZoo.size() + 1, spec.size())), ',')));
  TRY(apply_settings(options, settings, spec));
  auto tasks = zoo::make_zoo(options);
  if (tasks.size() < static_cast<std::size_t>(options.count))
    return fail("{}: its grammar has only {} such modules; ask for fewer, or for more operators",
                spec, tasks.size());
  return tasks;
}

// Converts an id into a file's path. An id that leads outside the folder is an error.
Result<fs::path> path_of(const fs::path& folder, const std::string& id) {
  const fs::path relative = fs::path(id + ".py").lexically_normal();
  if (id.empty() || relative.is_absolute() || *relative.begin() == "..")
    return fail("task '{}': an id that is no path below a folder cannot be exported", id);
  return folder / relative;
}

}  // namespace

bool is_zoo(std::string_view spec) { return spec.substr(0, spec.find(':')) == kZoo; }

std::string take_instruction(std::string& source) {
  if (!source.starts_with(kInstruction)) return {};
  const std::size_t end = std::min(source.find('\n'), source.size());
  std::string instruction = source.substr(kInstruction.size(), end - kInstruction.size());
  source.erase(0, std::min(end + 1, source.size()));
  return instruction;
}

Status check_task_source(std::string_view source) {
  if (source.find('\0') != std::string_view::npos)
    return fail("it is no text, because it holds a zero byte");
  if (!names_a_model(source))
    return fail("it defines no class Model; a task defines Model and get_inputs()");
  if (!defines(source, "def get_inputs") && !defines(source, "get_inputs"))
    return fail("it defines no get_inputs(); a task defines Model and get_inputs()");
  return ok();
}

Result<Task> import_file(const fs::path& file, std::string id, std::string suite) {
  TRY_ASSIGN(std::string source, read_file(file));
  TRY_WITHIN(file.string(), check_task_source(source));
  Task task;
  task.id = std::move(id);
  task.suite = std::move(suite);
  task.instruction = take_instruction(source);
  task.source = std::move(source);
  task.scale = TaskScale::gpu;  // the scale is unknown; KernelBench's tasks have this one
  return task;
}

Result<std::vector<Task>> import_folder(const fs::path& path, OnBadTask on_bad) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return fail("{}: no such folder", path.string());
  const fs::path folder = without_scripts(path);
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_directory(error) && (name.starts_with('.') || name == "__pycache__"))
      at.disable_recursion_pending();
    else if (name.ends_with(".py") && name != "__init__.py" && at->is_regular_file(error))
      files.push_back(at->path());
  }
  if (error) return fail("{}: cannot be listed: {}", folder.string(), error.message());
  std::sort(files.begin(), files.end());
  const fs::path whole = fs::absolute(folder / ".").lexically_normal().parent_path();
  std::vector<Task> tasks;
  for (const fs::path& file : files) {
    std::string id = fs::relative(file, folder).replace_extension().generic_string();
    TRY(take(tasks, import_file(file, std::move(id), whole.filename().string()), on_bad));
  }
  if (tasks.empty()) return fail("{}: holds no task files (.py)", folder.string());
  return tasks;
}

Result<std::vector<Task>> read_task_lines(const fs::path& file, OnBadTask on_bad) {
  TRY_ASSIGN(const std::vector<std::string> lines, read_lines(file));
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    TRY(take(
        tasks,
        task_of_line(lines[i], fmt::format("{}:{}", file.string(), i + 1), i + 1 == lines.size()),
        on_bad));
  }
  if (tasks.empty()) return fail("{}: holds no tasks", file.string());
  return tasks;
}

Status write_task_lines(const fs::path& file, const std::vector<Task>& tasks) {
  std::string text;
  for (const Task& task : tasks) text += to_line(to_json(task)) + '\n';
  if (file.has_parent_path()) TRY(make_directories(file.parent_path()));
  return write_file_atomic(file, text);
}

Status export_folder(const fs::path& folder, const std::vector<Task>& tasks) {
  for (const Task& task : tasks) {
    TRY_ASSIGN(const fs::path path, path_of(folder, task.id));
    TRY(make_directories(path.parent_path()));
    const std::string head =
        task.instruction.empty() ? "" : fmt::format("{}{}\n", kInstruction, task.instruction);
    TRY(write_file_atomic(path, head + task.source));
  }
  return ok();
}

Result<Settings> curriculum_settings(const std::vector<std::string>& overrides) {
  std::vector<std::string> plain;
  Settings settings;
  for (const std::string& each : overrides) {
    if (each.starts_with("families="))
      settings.emplace_back("families", Json(split_at(std::string_view(each).substr(9), '+')));
    else
      plain.push_back(each);
  }
  TRY_ASSIGN(const Settings others, settings_from_overrides(plain));
  settings.insert(settings.end(), others.begin(), others.end());
  return settings;
}

Result<std::optional<std::vector<GeneratedTask>>> load_generated_tasks(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (name != "curriculum" && name != "quickstart") return std::nullopt;
  CurriculumOptions options = name == "quickstart" ? quickstart_options(1) : CurriculumOptions{};
  options.train = 0;
  if (spec.size() > name.size()) {
    TRY_ASSIGN(const Settings settings,
               curriculum_settings(split_at(std::string_view(spec).substr(name.size() + 1), ',')));
    TRY(apply_settings(options, settings, spec));
  }
  std::vector<GeneratedTask> generated_tasks = generate_tasks(options);
  if (generated_tasks.empty()) return fail("{}: these options give no tasks", spec);
  return generated_tasks;
}

Result<std::vector<Task>> load_suite(const std::string& spec) {
  TRY_ASSIGN(auto generated_tasks, load_generated_tasks(spec));
  if (generated_tasks) {
    std::vector<Task> tasks;
    for (GeneratedTask& generated : *generated_tasks) tasks.push_back(std::move(generated.task));
    return tasks;
  }
  TRY_ASSIGN(auto modules, load_zoo(spec));
  if (modules) return *std::move(modules);
  std::error_code error;
  if (fs::is_directory(spec, error)) return import_folder(spec, OnBadTask::stop);
  if (spec.ends_with(".py") && fs::exists(spec, error)) {
    TRY_ASSIGN(Task task, import_file(spec, fs::path(spec).stem().string(), "file"));
    return std::vector<Task>{std::move(task)};
  }
  if (fs::exists(spec, error)) return read_task_lines(spec, OnBadTask::stop);
  const bool is_path =
      spec.ends_with(".py") || spec.ends_with(".jsonl") || spec.find('/') != std::string::npos;
  if (is_path) return fail("{}: No such file or directory", spec);
  return fail(
      "{}: no such suite; one is 'curriculum', 'quickstart', 'zoo', a folder of task files, a "
      ".jsonl or a .py",
      spec);
}

}  // namespace tritonsmith::curriculum
