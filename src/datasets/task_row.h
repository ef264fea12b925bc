// Tasks from the rows of other people's data sets. These layouts are known by their columns:
//   GPUMODE/KernelBook and its descendants   python_code (or pytorch_code, ...), entry_point
//   ScalingIntelligence/KernelBench          code, level, name, problem_id
//   SakanaAI/AI-CUDA-Engineer-Archive        PyTorch_Code_Module, Level_ID, Op_Name
//   hkust-nlp/drkernel-rl-data, verl         reward_model.ground_truth, extra_info
//   CoopReason/Kernel-Smith-RL               the same, as JSON within text
//   hkust-nlp/drkernel-coldstart-8k          original_python_code
//   conversations (KernelLLM's prompts)      the last code block of the user that is a task
//   our own JSONL                            id, source
#pragma once

#include <string>

#include "data/task.h"

namespace tritonsmith::datasets {

struct RowContext {
  std::string dataset;     // its name, which becomes the suite
  std::string licence;     // of the whole data set; a row's own licences come first
  std::size_t number = 0;  // the row's, from 1
};

// Fails in one line that says what is missing or wrong. The task's id may not be unique.
Result<Task> task_from_row(const Json& row, const RowContext& context);

// The origin that the row's columns tell.
Origin origin_of_row(const Json& row, const RowContext& context);

// Makes a task file of a module: the class `entry_point` becomes `Model`, and modules that only the
// data set's makers had are defined in place. Fails if the text is no task even then.
Result<std::string> as_task_source(std::string source, const std::string& entry_point);

// Makes a solution of the data set's own kernel, whose class is ENTRY_POINTNew or Model or ModelNew.
Result<std::string> as_kernel_source(std::string kernel, const std::string& entry_point);

// Returns the text itself or its last code block, if one of them is a task; else an empty text.
std::string task_within(const std::string& text);

inline constexpr std::size_t kMaxSourceBytes = std::size_t{1} << 20;  // as the judge's limit

}  // namespace tritonsmith::datasets
