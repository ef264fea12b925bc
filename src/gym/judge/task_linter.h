// TaskLinter: lints tasks before candidates are judged by them. Each task is captured in a guest
// and handed to a referee, which finds cheap answers that would pass for a solution
// (referee/lint.h). Every verdict about the task has the same findings. The referee can also measure
// the task's adequacy (referee/adequacy/measure.h). It lints one task at a time, on one thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/adequacy.h"
#include "data/finding.h"
#include "data/task.h"
#include "gym/capture/capture_pool.h"
#include "gym/judge/referee_process.h"

namespace tritonsmith::gym::judge {

// Returns a budget for linting when no one waits for a verdict: two minutes, and half of the memory
// that is free now. Linting needs at least twice the memory of the task's forward.
referee::RefereeBudget generous_budget();

struct MeasureOptions {
  double seconds = 60;  // for one task
  int secrets = 3;
};

class TaskLinter {
 public:
  // Uses generous_budget().
  static Result<std::unique_ptr<TaskLinter>> start(const capture::CaptureConfig& config,
                                                   RefereeProgram program);
  // Uses the caller's own parts. Tests put fakes in.
  TaskLinter(std::unique_ptr<capture::CapturePool> pool, std::unique_ptr<RefereeClient> referee,
             std::string secret, referee::RefereeBudget budget);

  // Fails only if the gym itself is broken. A task that cannot be captured has the finding
  // task_not_captured.
  Result<std::vector<Finding>> lint(const Task& task);
  // Fails only if the gym itself is broken. If the task is large and names its sizes, the measure
  // takes smaller ones (reduced_task.h).
  Result<Adequacy> measure(const Task& task, const MeasureOptions& options);

 private:
  struct MeasuredPlan {
    std::string source, json;
    std::int64_t divisor = 1;
  };
  // Returns the plan's JSON, or the task's failure. Fails if the gym itself is broken.
  Result<std::variant<std::string, VerdictError>> capture(const std::string& source);
  Result<MeasuredPlan> reduced(MeasuredPlan whole);

  std::unique_ptr<capture::CapturePool> pool_;
  std::unique_ptr<RefereeClient> referee_;
  std::string secret_;
  referee::RefereeBudget budget_;
};

}  // namespace tritonsmith::gym::judge
