// Task linter: finds out whether a cheap answer passes for a solution of the task. Cheap answers
// are zeros, a constant, and the output for other inputs. They are compared with the reference as a
// candidate is, over the same kinds of trials. The linter also finds inputs that the output does
// not depend on. A task with such a finding teaches a model to cheat, so its findings go into every
// verdict about it. Once an answer is refuted, no further inputs are drawn: most tasks cost little
// more than two runs of their reference. On the CPU or a GPU; one thread.
#pragma once

#include <functional>
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
  trial::ReferenceSource* python_reference = nullptr;  // runs forward of a task whose plan lacks it
  trial::ReferenceMode mode = trial::ReferenceMode::train;  // the mode of the Python reference
  // Says whether the reference may be given inputs that are changed so. Empty: any.
  std::function<bool(trial::Perturbation)> takes = {};
};

struct LintReport {
  // The rules are task_zeros_pass, task_constant_passes, task_replay_passes and task_ignores_input
  // (all warn); task_loses_digits (note); and task_not_linted (note) if time, memory or the task's
  // own failure ended the linter's work.
  std::vector<Finding> findings;
  bool is_final = true;  // false: the infrastructure failed, and another time may tell more
  // The reason why forward's plan does not replay here. The Python reference may run it.
  std::optional<VerdictError> refusal;
};
LintReport lint_task(const LintSetting& setting, language::KernelExecutor& executor,
                     device::Device& device);

}  // namespace tritonsmith::gym::referee
