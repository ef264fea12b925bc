// Makes examples for `sft` of the rows of other people's data sets. The columns tell which of these
// layouts a row has:
//   TRL, verl's SFT         prompt and completion; messages; prompt, chosen and rejected
//   drkernel-coldstart-8k   messages of five rounds, best_round
//   Kernel-Smith-SFT        messages
//   ShareGPT                conversations of {from, value}
//   Alpaca                  instruction, input, output
//   KernelBook, our pairs   a module and a kernel; the prompt is made from the module
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/enum_names.h"
#include "data/origin.h"
#include "datasets/task_row.h"
#include "text/chat.h"
#include "text/prompt_record.h"

namespace tritonsmith::datasets {

// The answers of a conversation that become examples: each with all before it, the last alone, or
// the best one where the row names it.
enum class Turns { all, last, best };

struct Example {
  std::string task;
  std::vector<text::Message> prompt;
  std::string completion;
  std::string rejected = {};                     // of a preference pair: the answer that is worse
  std::string source = {};                       // of the task, where the row has it
  std::string kernel = {};                       // of a row that has the kernel apart
  std::optional<double> speedup = std::nullopt;  // of the kernel against its module, where known
  std::optional<text::PromptRecord> asked = std::nullopt;  // how the prompt was made, where known
  std::optional<Origin> origin = std::nullopt;
  bool operator==(const Example&) const = default;
};

// The line that `sft` reads, with more members than it needs.
Json to_json(const Example& example);

struct ExampleOptions {
  Turns turns = Turns::all;
  text::PromptConfig prompt;  // of rows that have a module and a kernel
};

// Fails in one line if the row has no answer to learn from.
Result<std::vector<Example>> examples_from_row(const Json& row, const RowContext& context,
                                               const ExampleOptions& options);

}  // namespace tritonsmith::datasets

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::datasets::Turns> =
    tritonsmith::names<tritonsmith::datasets::Turns>({{tritonsmith::datasets::Turns::all, "all"},
                                                      {tritonsmith::datasets::Turns::last, "last"},
                                                      {tritonsmith::datasets::Turns::best,
                                                       "best"}});
