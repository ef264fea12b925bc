// Export: our own JSONL in the layouts of other trainers, as any file or folder that dataset.h
// writes. Where a file must know its columns beforehand, the rows are read twice.
#pragma once

#include <span>

#include "base/enum_names.h"
#include "data/task.h"
#include "datasets/dataset.h"
#include "datasets/example_row.h"

namespace tritonsmith::datasets {

// sft: our own. prompt_completion, messages, preference: TRL's conversational ones; verl and others
// read messages, too. alpaca: instruction, input, output. kernelbook: GPUMODE/KernelBook's columns.
// coldstart: those of hkust-nlp/drkernel-coldstart-8k. kernel_smith: those of
// CoopReason/Kernel-Smith-SFT-71K. kernelllm: a prompt in KernelLLM's form, and code alone.
enum class ExampleLayout {
  sft,
  messages,
  prompt_completion,
  preference,
  alpaca,
  kernelbook,
  coldstart,
  kernel_smith,
  kernelllm
};
// kernelbench: ScalingIntelligence/KernelBench's columns. verl: rows for reinforcement learning.
// kernel_smith: such rows of CoopReason/Kernel-Smith-RL-2K, where one column is JSON as text.
enum class TaskLayout { kernelbench, verl, kernel_smith };

// The row of one example, or the reason why it has none in this layout.
Result<Json> example_in_layout(const Example& example, ExampleLayout layout);
Result<Example> example_from_json(const Json& json);
Json task_in_layout(const Task& task, TaskLayout layout, std::size_t number);

struct ExportCounts {
  std::size_t written = 0;
  std::vector<std::string> licences;  // each once, in the order of their first row
};

// `file` is JSONL that `examples import`, `tasks teach`, `tasks pairs` or `tasks from-run` wrote.
Result<ExportCounts> export_examples(const std::filesystem::path& file, ExampleLayout layout,
                                     const DatasetTarget& target);
// Examples in memory. Those that have no form in the layout are an error. `target.card` follows
// what the card of every export says.
Result<ExportCounts> export_examples(std::span<const Example> examples, ExampleLayout layout,
                                     const DatasetTarget& target);
Result<ExportCounts> export_tasks(const std::vector<Task>& tasks, TaskLayout layout,
                                  const DatasetTarget& target);

}  // namespace tritonsmith::datasets

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::datasets::ExampleLayout> =
    tritonsmith::names<tritonsmith::datasets::ExampleLayout>(
        {{tritonsmith::datasets::ExampleLayout::sft, "sft"},
         {tritonsmith::datasets::ExampleLayout::messages, "messages"},
         {tritonsmith::datasets::ExampleLayout::prompt_completion, "prompt-completion"},
         {tritonsmith::datasets::ExampleLayout::preference, "preference"},
         {tritonsmith::datasets::ExampleLayout::alpaca, "alpaca"},
         {tritonsmith::datasets::ExampleLayout::kernelbook, "kernelbook"},
         {tritonsmith::datasets::ExampleLayout::coldstart, "coldstart"},
         {tritonsmith::datasets::ExampleLayout::kernel_smith, "kernel-smith"},
         {tritonsmith::datasets::ExampleLayout::kernelllm, "kernelllm"}});
template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::datasets::TaskLayout> =
    tritonsmith::names<tritonsmith::datasets::TaskLayout>(
        {{tritonsmith::datasets::TaskLayout::kernelbench, "kernelbench"},
         {tritonsmith::datasets::TaskLayout::verl, "verl"},
         {tritonsmith::datasets::TaskLayout::kernel_smith, "kernel-smith"}});
