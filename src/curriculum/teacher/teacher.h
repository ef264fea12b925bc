// Teacher: writes what supervised fine-tuning learns from: for each task, completions with a short
// plan and Triton code. A library of its own, linked by the commands that make training data and by
// nothing that is measured or trained by reward. Stated shares of the completions are not what they
// should be, on purpose, so that fine-tuning leaves something to learn; others are second answers,
// which mend a first one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "curriculum/tasks.h"
#include "curriculum/teacher/solution.h"

namespace tritonsmith::curriculum {

// What stands before the code. steps: what is computed. fusion: which operators each kernel
// computes, and which torch does: what the code then holds to.
enum class PlanKind { steps, fusion };

struct TeacherOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> styles;  // empty: all that fit the task
  int per_task = 4;                 // completions of a task, each in another style
  PlanKind plan = PlanKind::steps;
  // Shares of the completions; what is left is honest.
  double mistakes = 0;  // compute something else
  double lazy = 0;      // leave all operators but one to torch
  double decoys = 0;    // leave all of them to torch; their kernel is for show
  double repairs = 0;   // of all: instead the second answer to a first one that is no good

  static Fields<TeacherOptions> fields();
};

// Shares that are more than the whole.
Status check(const TeacherOptions& options);

// What an answer is, on purpose. slip: what keeps it from compiling; of first answers only.
enum class Intent { honest, mistake, slip, lazy, decoy };

struct Answer {
  Intent intent = Intent::honest;
  Style style = Style::compact;
  std::string code;
  std::string completion;  // "<thinking>plan</thinking>\n<answer>\n```python\n...```\n</answer>"
};

struct Example {
  Task task;
  Answer answer;  // what is learnt
  // What it mends: it stands in the prompt, before the verdict on it.
  std::optional<Answer> first;
};

// Of training tasks only: held-out ones are passed over. In the order of the lessons.
std::vector<Example> teach(std::span<const Lesson> lessons, const TeacherOptions& options);

// What `teach` says about any lesson, for tests that check the teacher on held-out tasks too.
std::vector<Example> teach_lesson(const Lesson& lesson, const TeacherOptions& options,
                                  std::uint64_t index);

std::string completion_text(std::string_view plan, std::string_view code);

}  // namespace tritonsmith::curriculum

namespace tritonsmith {
template <>
inline constexpr auto enum_names<curriculum::PlanKind> = names<curriculum::PlanKind>(
    {{curriculum::PlanKind::steps, "steps"}, {curriculum::PlanKind::fusion, "fusion"}});
template <>
inline constexpr auto enum_names<curriculum::Intent> =
    names<curriculum::Intent>({{curriculum::Intent::honest, "honest"},
                               {curriculum::Intent::mistake, "mistake"},
                               {curriculum::Intent::slip, "slip"},
                               {curriculum::Intent::lazy, "lazy"},
                               {curriculum::Intent::decoy, "decoy"}});
}  // namespace tritonsmith
