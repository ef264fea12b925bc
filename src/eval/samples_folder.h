// Reads a folder of samples as KernelBench's generate_samples writes it. Each file holds one
// kernel, and its name says for which problem: level_1_problem_19_sample_0_kernel.py. Other files,
// such as generation_config.yaml, are passed over.
#pragma once

#include <compare>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/task.h"

namespace tritonsmith::eval {

struct SampleName {
  int level = 0, problem = 0, sample = 0;
  auto operator<=>(const SampleName&) const = default;
};

std::string file_name(const SampleName& name);
// Returns nothing for a file that is no sample.
std::optional<SampleName> parse_sample_name(std::string_view file_name);

struct FolderSample {
  SampleName name;
  std::string kernel;          // the file's text
  const Task* task = nullptr;  // set by find_tasks
};

// Returns the samples by level, problem and sample. With levels, it returns those of these levels
// alone. Fails if there are none, or if a sample cannot be read.
Result<std::vector<FolderSample>> read_samples_folder(const std::filesystem::path& folder,
                                                      std::span<const int> levels = {});

// Sets each sample's task: level 1's problem 19 is the task "level1/19_ReLU". `tasks` must outlive
// the samples. Fails if the suite has no such task, or several.
Status find_tasks(std::span<const Task> tasks, std::span<FolderSample> samples);

}  // namespace tritonsmith::eval
