// Teaching: the teacher's lessons as examples for supervised fine-tuning. A second answer's prompt
// holds the first one and what the gym said about it, in the words that a model is told in between
// turns; so the first answers are judged before anything is written. What tasks and quickstart
// share.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "curriculum/teacher/teacher.h"
#include "gym/api/judge.h"
#include "text/prompt.h"
#include "train/sft_examples.h"

namespace tritonsmith::cli {

struct Teaching {
  curriculum::TeacherOptions teacher;
  text::PromptConfig prompt;
  // How first answers are judged.
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  // Asked for a judge only where there are first answers.
  std::function<Result<gym::api::Judge*>()> judge;
};

struct Taught {
  std::vector<train::SftExample> examples;  // in the order of the lessons
  std::map<std::string, int> counts;        // by intent, and "repair" for second answers
};

// Fails when the gym is broken, or has a fault about a first answer.
Result<Taught> teaching_examples(std::span<const curriculum::Lesson> lessons,
                                 const Teaching& teaching);

// An honest solution of each training task, one a line as {"task", "kernel"}: what
// reward.similarity compares with.
std::string reference_lines(std::span<const curriculum::Lesson> lessons,
                            curriculum::TeacherOptions options);

}  // namespace tritonsmith::cli
