// Referee: compares a candidate's plan with its task's plan over several trials, and reports what
// running them showed. It keeps the task plans that it received. One thread uses a Referee. The
// report describes every failure of a plan; an Error means broken machinery.
//
// judge_plans.h refuses a job's plans or runs the trials (run_trials.h). On a GPU the timing
// follows (time_plans.h). If a job has no candidate, the referee lints its task (lint_job.h) or
// measures the task's adequacy (adequacy/measure.h).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/byte_cache.h"
#include "base/lease.h"
#include "data/calibration.h"
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
  // Runs on the CPU.
  explicit Referee(std::unique_ptr<language::KernelExecutor> executor);
  // Runs on a GPU, so its verdicts have timings. With a lease, a candidate is timed alone: other
  // programs that share the lease pause meanwhile.
  explicit Referee(std::unique_ptr<device::CudaDevice> gpu,
                   std::optional<Lease> lease = std::nullopt);
  ~Referee();

  bool knows(const std::string& task_key) const { return tasks_.contains(task_key); }
  // Fails if the JSON is no plan of a task.
  Status add_task(const std::string& task_key, std::string_view plan_json);

  // The Python reference runs forward of tasks whose plan lacks it, or does not replay. It must
  // outlive the referee. Without one, such tasks cannot be judged.
  void use_python_reference(trial::ReferenceSource* source) { python_.use(source); }

  // The job's task must be known. A job without a candidate lints or measures the task itself.
  RefereeReport judge(const RefereeJob& job);
  // Measures how fast the GPU is now (calibrate.h). Fails on a CPU.
  Result<Calibration> calibrate();
  // Call this when no job is due. It gives back memory that other programs on the same
  // device may need.
  void rest();
  // Says whether a candidate broke the GPU's context. The referee then takes no further job.
  bool spent() const;

 private:
  // The bytes of task plans, as text, that are kept at once. A run has many tasks, and a forgotten
  // one is sent again.
  static constexpr std::size_t kKeptPlanBytes = std::size_t{64} << 20;
  RefereeReport judge_known(const RefereeJob& job);
  RefereeReport judge_in_python(const RefereeJob& job, const plan::Plan& candidate,
                                PlanJudgement first);

  std::unique_ptr<Equipment> equipment_;
  PythonReferences python_;
  ByteCache<plan::Plan> tasks_{kKeptPlanBytes};
};

}  // namespace tritonsmith::gym::referee
