// Referee: compares a candidate's plan with its task's plan over several trials, and reports what
// running them showed. It keeps the task plans that it received. One thread uses a Referee. A
// failure of a plan is part of the report. An Error means that the referee itself is broken.
//
// A job takes these steps. judge_plans.h refuses the plans, or has run_trials.h run the trials. On
// a GPU time_plans.h then times a correct candidate. If a job has no candidate, the referee lints
// its task (lint_job.h) or measures the task's adequacy (adequacy/measure.h).
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
  // Runs on a GPU, and also times candidates. While it times one, it holds the lease, so other
  // programs that share the lease pause.
  explicit Referee(std::unique_ptr<device::CudaDevice> gpu,
                   std::optional<Lease> lease = std::nullopt);
  ~Referee();

  bool knows(const std::string& task_key) const { return tasks_.contains(task_key); }
  // Fails if the JSON is no plan of a task.
  Status add_task(const std::string& task_key, std::string_view plan_json);

  // Sets the Python reference. It runs the forward of a task whose plan lacks it or does not
  // replay. Without a Python reference such tasks cannot be judged. `source` must outlive the
  // referee.
  void use_python_reference(trial::ReferenceSource* source) { python_.use(source); }

  // The job's task must be known. A job without a candidate lints or measures the task itself.
  RefereeReport judge(const RefereeJob& job);
  // Measures how fast the GPU is now (calibrate.h). Fails on a CPU.
  Result<Calibration> calibrate();
  // Frees memory that other programs on the same device may need. The caller calls it while it has
  // no job for the referee.
  void rest();
  // Says whether a candidate broke the GPU's context. The referee then takes no further job.
  bool spent() const;

 private:
  // The limit for the text of all kept task plans, because a run has many tasks. If a plan was
  // dropped, the client sends it again.
  static constexpr std::size_t kKeptPlanBytes = std::size_t{64} << 20;
  RefereeReport judge_known(const RefereeJob& job);
  RefereeReport judge_in_python(const RefereeJob& job, const plan::Plan& candidate,
                                PlanJudgement first);

  std::unique_ptr<Equipment> equipment_;
  PythonReferences python_;
  ByteCache<plan::Plan> tasks_{kKeptPlanBytes};
};

}  // namespace tritonsmith::gym::referee
