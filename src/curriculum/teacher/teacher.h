// Teacher: writes the data of supervised fine-tuning. For each task it writes completions with a
// short thinking and Triton code. The teacher is a library of its own. Only the commands that make
// training data link it, never code that measures a model or trains it by reward.
//
// Some completions are bad on purpose, in stated shares, so that fine-tuning leaves room for
// learning. Others are second answers that repair a first one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "curriculum/tasks.h"
#include "curriculum/teacher/solution.h"

namespace tritonsmith::curriculum {

// The thinking before the code. steps: the operators in order. fusion: the operators of each kernel
// and those of torch; the code follows it.
enum class ThinkingKind { steps, fusion };

struct TeacherOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> styles;  // empty: all styles that fit the task
  int per_task = 4;                 // completions for each task, each in another style
  ThinkingKind thinking = ThinkingKind::steps;
  // Shares of the completions. The rest are honest.
  double mistakes = 0;  // the kernel computes something else
  double lazy = 0;      // torch computes all operators but one
  double decoys = 0;    // torch computes everything; the kernel has no effect
  double repairs = 0;   // share of all completions that repair a bad first answer

  static Fields<TeacherOptions> fields();
};

// Fails if the shares add up to more than 1.
Status check(const TeacherOptions& options);

// The intended quality of an answer. slip: it does not compile; only first answers have slips.
enum class Intent { honest, mistake, slip, lazy, decoy };

struct Answer {
  Intent intent = Intent::honest;
  Style style = Style::compact;
  std::string code;
  std::string completion;  // "<thinking>...</thinking>\n<answer>\n```python\n...```\n</answer>"
};

struct Example {
  Task task;
  Answer answer;  // the completion to learn
  // The bad first answer that it repairs. The prompt contains it, followed by its verdict.
  std::optional<Answer> first;
};

// Writes examples for the training tasks, in the order of the tasks. It skips held-out tasks.
std::vector<Example> teach(std::span<const GeneratedTask> generated_tasks,
                           const TeacherOptions& options);

// Returns what `teach` writes for any task, so that tests can check the teacher on held-out tasks
// too.
std::vector<Example> teach_task(const GeneratedTask& generated, const TeacherOptions& options,
                                std::uint64_t index);

std::string completion_text(std::string_view thinking, std::string_view code);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::ThinkingKind> = names<curriculum::ThinkingKind>(
    {{curriculum::ThinkingKind::steps, "steps"}, {curriculum::ThinkingKind::fusion, "fusion"}});
template <>
inline constexpr auto enum_names<curriculum::Intent> =
    names<curriculum::Intent>({{curriculum::Intent::honest, "honest"},
                               {curriculum::Intent::mistake, "mistake"},
                               {curriculum::Intent::slip, "slip"},
                               {curriculum::Intent::lazy, "lazy"},
                               {curriculum::Intent::decoy, "decoy"}});
}  // namespace tritonsmith
