// Task: one PyTorch module that wants a faster kernel, in KernelBench's file format: Python that
// defines `Model`, `get_inputs()` and `get_init_inputs()`. Whatever is known about it besides is
// kept beside the source.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace tritonsmith {

enum class TaskScale { small, gpu };
enum class TaskSplit { train, heldout };

template <>
inline constexpr auto enum_names<TaskScale> = names<TaskScale>({{TaskScale::small, "small"},
                                                                {TaskScale::gpu, "gpu"}});
template <>
inline constexpr auto enum_names<TaskSplit> = names<TaskSplit>({{TaskSplit::train, "train"},
                                                                {TaskSplit::heldout, "heldout"}});

struct Task {
  std::string id;      // unique within its suite: "ew3-00042-small", "level1/19_ReLU"
  std::string suite;   // "curriculum", "kernelbench", or the name of an imported folder
  std::string source;  // the Python file, whole
  std::string
      instruction;  // what an implementation prompt asks for in a sentence; empty where unknown
  std::string
      family;  // "elementwise", "reduction", "softmax", "norm", "matmul"; empty where unknown
  std::string
      composition;  // canonical form of what is computed (curriculum only); equal means same task
  TaskScale scale = TaskScale::small;
  TaskSplit split = TaskSplit::train;
  std::optional<double> tolerance;  // tightens, never loosens, the dtype's own
};

Json to_json(const Task& task);
Result<Task> task_from_json(const Json& json);

}  // namespace tritonsmith
