// Referee: compares a candidate's plan with its task's over several trials, and reports what running
// them showed. It keeps the task plans that it was given. One thread uses a Referee. Whatever plans
// do is in the report; only broken machinery is an Error.
//
// A job goes through judge_plans.h, which refuses plans or runs the trials (run_trials.h); on a GPU
// the timing follows (time_plans.h). A job without a candidate lints its task (lint_job.h).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/lease.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/plan.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/referee/python_references.h"

namespace tritonsmith::gym::device {
class CudaDevice;
}

namespace tritonsmith::gym::referee {

struct Equipment;
struct PlanJudgement;

class Referee {
 public:
  // On the CPU.
  explicit Referee(std::unique_ptr<language::KernelExecutor> executor);
  // On a GPU: its verdicts have timings. With a lease, a candidate is timed alone: the others who
  // hold the lease pause meanwhile.
  explicit Referee(std::unique_ptr<device::CudaDevice> gpu,
                   std::optional<Lease> lease = std::nullopt);
  ~Referee();

  bool knows(const std::string& task_key) const { return tasks_.contains(task_key); }
  // Fails when it is no plan of a task.
  Status add_task(const std::string& task_key, std::string_view plan_json);

  // The Python reference runs forward of tasks whose plan lacks it, or does not replay. It must
  // outlive the referee. Without one, such tasks cannot be judged.
  void use_python_reference(trial::ReferenceSource* source) { python_.use(source); }

  // The job's task must be known. A job without a candidate lints the task itself.
  RefereeReport judge(const RefereeJob& job);
  // No job is due. Gives back memory that others on the same device would miss.
  void rest();
  // A candidate broke the GPU's context: no further job may be given.
  bool spent() const;

 private:
  // How many task plans are kept at once. A run has many tasks, and a forgotten one is sent again.
  static constexpr std::size_t kKeptTasks = 512;
  RefereeReport judge_known(const RefereeJob& job);
  RefereeReport judge_in_python(const RefereeJob& job, const plan::Plan& candidate,
                                PlanJudgement first);

  std::unique_ptr<Equipment> equipment_;
  PythonReferences python_;
  std::map<std::string, plan::Plan> tasks_;
};

}  // namespace tritonsmith::gym::referee
