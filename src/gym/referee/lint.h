// Task linter: what would pass for a solution of a task without being one, held against the
// reference by the judge's own comparison over the judge's own kinds of trials: zeros, a constant,
// the output for other inputs; and inputs that the output does not depend on. A task with such a
// finding teaches a model to cheat, so its findings go into every verdict about it. Where an answer
// is refuted no further draw is made, so that most tasks cost little more than two runs of their
// reference. On the CPU or a GPU; one thread (the replay's).
#pragma once

#include <vector>

#include "data/finding.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym::referee {

struct LintSetting {
  const plan::Plan& task;  // in evaluation mode where its training mode draws random numbers
  std::string_view secret;
  Comparison comparison = Comparison::budget;
  std::optional<double> tolerance;
  Deadline deadline = Deadline::never();
  std::int64_t memory_bytes = 0;
  trial::ReferenceSource* shell = nullptr;  // runs forward of a task whose plan lacks it
  trial::ReferenceMode mode = trial::ReferenceMode::train;  // there
};

struct LintReport {
  // Rules: task_zeros_pass, task_constant_passes, task_replay_passes, task_ignores_input,
  // task_loses_digits (all warn), and task_not_linted (note) where time, memory or the task's own
  // failure ended it.
  std::vector<Finding> findings;
  bool is_final = true;  // false: the infrastructure failed, another time may tell more
  // Why forward's plan does not replay here; a shell may run it.
  std::optional<VerdictError> refusal;
};
LintReport lint_task(const LintSetting& setting, language::KernelExecutor& executor,
                     device::Device& device);

Finding not_linted(std::string why);

}  // namespace tritonsmith::gym::referee
