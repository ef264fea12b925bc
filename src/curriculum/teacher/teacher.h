// Teacher: writes what supervised fine-tuning learns from: for each task, completions with a short
// plan and correct Triton code. A library of its own, linked by the commands that make training
// data and by nothing that is measured or trained by reward. `mistakes` spoils a share of the
// completions on purpose, so that fine-tuning leaves something to learn.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "curriculum/tasks.h"
#include "curriculum/teacher/solution.h"

namespace tritonsmith::curriculum {

struct TeacherOptions {
  std::uint64_t seed = 1;
  std::vector<std::string> styles;  // empty: all that fit the task
  int per_task = 4;                 // completions of a task, each in another style
  double mistakes = 0;              // share of completions that compute something else

  static Fields<TeacherOptions> fields();
};

struct Example {
  Task task;
  Style style = Style::compact;
  std::string completion;  // "<thinking>plan</thinking>\n<answer>\n```python\n...```\n</answer>"
  bool mistaken = false;
};

// Of training tasks only: held-out ones are passed over. In the order of the lessons.
std::vector<Example> teach(std::span<const Lesson> lessons, const TeacherOptions& options);

// What `teach` says about any lesson, for tests that check the teacher on held-out tasks too.
std::vector<Example> teach_lesson(const Lesson& lesson, const TeacherOptions& options,
                                  std::uint64_t index);

std::string completion_text(const Solution& solution);

}  // namespace tritonsmith::curriculum
