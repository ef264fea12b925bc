// TaskLinter: looks at tasks before anybody is judged by them. Each is captured in a guest and
// handed to a referee, which says what would pass for a solution without being one
// (referee/lint.h). The same findings come with every verdict about the task. Serial; one thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/finding.h"
#include "data/task.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_process.h"

namespace tritonsmith::gym::judge {

// What a look may take where nobody waits for a verdict: two minutes, and half of the memory that
// is free now, for a look does not do with less than twice what the task's forward holds.
referee::RefereeBudget generous_budget();

class TaskLinter {
 public:
  // By that budget.
  static Result<std::unique_ptr<TaskLinter>> start(const capture::CaptureConfig& config,
                                                   RefereeProgram program);
  // With parts of the caller's own; tests put fakes in.
  TaskLinter(std::unique_ptr<capture::CapturePool> pool, std::unique_ptr<RefereeClient> referee,
             std::string secret, referee::RefereeBudget budget);

  // Fails only when the gym itself is broken. A task that cannot be captured has the finding
  // task_not_captured.
  Result<std::vector<Finding>> lint(const Task& task);

 private:
  std::unique_ptr<capture::CapturePool> pool_;
  std::unique_ptr<RefereeClient> referee_;
  std::string secret_;
  referee::RefereeBudget budget_;
};

}  // namespace tritonsmith::gym::judge
