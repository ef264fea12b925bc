#include "eval/samples_folder.h"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/file.h"
#include "base/log.h"
#include "eval/metrics.h"

namespace tritonsmith::eval {
namespace {

// Removes `prefix` from the text, if it begins so.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes a number without leading zeros from the text, so that each sample has one name only.
bool take(std::string_view& text, int& number) {
  const bool begins = !text.empty() && text[0] >= '0' && text[0] <= '9';
  if (!begins || (text.size() > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9'))
    return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

using Problem = std::pair<int, int>;  // level and number

// Returns level and number of a task of KernelBench, whose id is like "level1/19_ReLU".
std::optional<Problem> problem_of(const Task& task) {
  const std::string level = level_of(task.id, task.family, task.suite);
  std::string_view level_text = level;
  std::string_view name = task.id;
  name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
  Problem problem;
  if (!take(level_text, "level") || !take(level_text, problem.first) || !level_text.empty())
    return std::nullopt;
  if (!take(name, problem.second) || !name.starts_with('_')) return std::nullopt;
  return problem;
}

std::string text_of(const Problem& problem) {
  return fmt::format("problem {} of level {}", problem.second, problem.first);
}

// A Python file that is no sample is probably one whose name is mistaken.
void warn_of_other_kernels(const std::filesystem::path& folder,
                           const std::vector<std::string>& others) {
  if (others.empty()) return;
  LOG("{}: passed over Python files that are not named like {}: {}, the first is {}",
      folder.string(), file_name({1, 19, 0}), others.size(), others.front());
}

}  // namespace

std::string file_name(const SampleName& name) {
  return fmt::format("level_{}_problem_{}_sample_{}_kernel.py", name.level, name.problem,
                     name.sample);
}

std::optional<SampleName> parse_sample_name(std::string_view file_name) {
  SampleName name;
  const bool fits = take(file_name, "level_") && take(file_name, name.level) &&
                    take(file_name, "_problem_") && take(file_name, name.problem) &&
                    take(file_name, "_sample_") && take(file_name, name.sample) &&
                    file_name == "_kernel.py";
  return fits ? std::optional(name) : std::nullopt;
}

Result<std::vector<FolderSample>> read_samples_folder(const std::filesystem::path& folder,
                                                      std::span<const int> levels) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error))
    return fail("{}: no such folder", folder.string());
  TRY_ASSIGN(const auto files, entries_of(folder));
  std::vector<FolderSample> samples;
  std::vector<std::string> others;
  for (const std::filesystem::path& file : files) {
    const auto name = parse_sample_name(file.filename().string());
    if (!name && file.extension() == ".py") others.push_back(file.filename());
    if (!name) continue;
    if (!levels.empty() && std::ranges::find(levels, name->level) == levels.end()) continue;
    TRY_ASSIGN(std::string kernel, read_file(file));
    samples.push_back({.name = *name, .kernel = std::move(kernel)});
  }
  warn_of_other_kernels(folder, others);
  if (samples.empty())
    return fail("{}: holds no samples{}; KernelBench names them like {}", folder.string(),
                levels.empty() ? "" : " of these levels", file_name({1, 19, 0}));
  std::ranges::sort(samples, {}, &FolderSample::name);
  return samples;
}

Status find_tasks(std::span<const Task> tasks, std::span<FolderSample> samples) {
  std::multimap<Problem, const Task*> by_problem;
  for (const Task& task : tasks)
    if (const auto problem = problem_of(task)) by_problem.emplace(*problem, &task);
  if (by_problem.empty())
    return fail(
        "the suite has no tasks named as KernelBench's, like level1/19_ReLU; give the folder that "
        "holds level1 as --suite");
  for (FolderSample& sample : samples) {
    const Problem problem = {sample.name.level, sample.name.problem};
    const auto [first, end] = by_problem.equal_range(problem);
    if (first == end)
      return fail("{}: the suite has no {}", file_name(sample.name), text_of(problem));
    if (std::next(first) != end)
      return fail("{}: the suite has two tasks that are {}: {} and {}", file_name(sample.name),
                  text_of(problem), first->second->id, std::next(first)->second->id);
    sample.task = first->second;
  }
  return ok();
}

}  // namespace tritonsmith::eval
