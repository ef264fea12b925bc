// QuickstartConfig: what `tritonsmith quickstart` does, phase by phase, with step counts and never
// time budgets, so that every machine does the same work. `--set` changes any of it; the journey in
// tests/ runs a tiny version.
#pragma once

#include "curriculum/tasks.h"
#include "curriculum/teacher/teacher.h"
#include "model/config.h"
#include "train/rl_config.h"
#include "train/sft.h"

namespace tritonsmith::cli {

struct QuickstartConfig {
  std::uint64_t seed = 1;
  std::string out = "runs/quickstart";
  int vocabulary = 1024;  // tokens of the tokenizer trained on the teacher's solutions
  int heldout = 120;      // tasks evaluated on, never trained on
  int samples = 8;        // completions sampled a held-out task, beside a greedy one
  int trials = 3;         // inputs each kernel is tried on
  curriculum::CurriculumOptions curriculum;
  curriculum::TeacherOptions teacher;
  model::ModelConfig model;
  train::SftConfig sft;
  train::RlConfig rl;

  // The defaults of the quickstart, everything derived from the seed.
  static QuickstartConfig with_seed(std::uint64_t seed);
  static Fields<QuickstartConfig> fields();
};

}  // namespace tritonsmith::cli
