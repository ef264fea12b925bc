// Task: one PyTorch module that needs a faster kernel, in KernelBench's file format. The Python
// source defines `Model`, `get_inputs()` and `get_init_inputs()`. The other fields say what else is
// known about the task.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "data/origin.h"

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
  std::string source;  // the whole Python file
  // One sentence that describes the operation. An implementation prompt (text/prompt.h) asks with
  // it. Empty if unknown.
  std::string instruction;
  // "elementwise", "reduction", "softmax", "norm", "matmul". Empty if unknown.
  std::string family;
  // The canonical form of the computation (curriculum only). Tasks with the same form are the same
  // task.
  std::string composition;
  TaskScale scale = TaskScale::small;
  TaskSplit split = TaskSplit::train;
  std::optional<double> tolerance;  // may tighten the dtype's tolerance, never loosen it
  std::optional<Origin> origin = std::nullopt;  // set if the task comes from another project
};

Json to_json(const Task& task);
Result<Task> task_from_json(const Json& json);

}  // namespace tritonsmith
