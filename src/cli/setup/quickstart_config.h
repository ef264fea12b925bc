// QuickstartConfig: the phases of `tritonsmith quickstart`. They have step counts and no time
// budgets, so that every machine does the same work. `--set` changes each setting, and the journey
// in tests/ runs a tiny version.
#pragma once

#include "curriculum/tasks.h"
#include "curriculum/teacher/teacher.h"
#include "model/config/config.h"
#include "train/rl/rl_config.h"
#include "train/sft/sft.h"

namespace tritonsmith::cli {

struct QuickstartConfig {
  std::uint64_t seed = 1;
  std::string out = "runs/quickstart";
  int vocabulary = 1024;  // tokens of the tokenizer trained on the teacher's solutions
  int heldout = 120;      // tasks of the evaluation, which training never uses
  int samples = 8;  // completions sampled for each held-out task, in addition to the greedy one
  int trials = 3;   // trials of each kernel, with different inputs
  curriculum::CurriculumOptions curriculum;
  curriculum::TeacherOptions teacher;
  model::ModelConfig model;
  train::SftConfig sft;
  train::RlConfig rl;

  // Returns the quickstart's defaults; all seeds derive from `seed`.
  static QuickstartConfig with_seed(std::uint64_t seed);
  static Fields<QuickstartConfig> fields();
};

}  // namespace tritonsmith::cli
