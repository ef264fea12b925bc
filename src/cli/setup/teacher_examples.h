// Teacher examples: converts the teacher's answers into examples for supervised fine-tuning. The
// prompt of a second answer contains the first answer and the gym's feedback on it. First answers
// are therefore judged before examples are written. `tasks` and `quickstart` use it.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "curriculum/teacher/teacher.h"
#include "gym/api/judge.h"
#include "text/prompt.h"
#include "train/sft/sft_examples.h"

namespace tritonsmith::cli {

struct TeacherExampleOptions {
  curriculum::TeacherOptions teacher;
  text::PromptConfig prompt;
  // The settings with which first answers are judged.
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  // Asked for a judge only where there are first answers.
  std::function<Result<gym::api::Judge*>()> judge;
};

struct TeacherExamples {
  std::vector<train::SftExample> examples;  // in the order of the tasks
  std::map<std::string, int> counts;        // by intent; "repair" counts second answers
};

// Fails if the gym is broken, or has an infrastructure fault on a first answer.
Result<TeacherExamples> teacher_examples(std::span<const curriculum::GeneratedTask> generated_tasks,
                                         const TeacherExampleOptions& options);

// Returns an honest solution of each training task, one a line as {"task", "kernel"}.
// reward.similarity compares with them.
std::string reference_lines(std::span<const curriculum::GeneratedTask> generated_tasks,
                            curriculum::TeacherOptions options);

}  // namespace tritonsmith::cli
