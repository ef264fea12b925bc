// Referee: holds a candidate's plan against its task's, over several trials, and reports what
// running them showed. It keeps the task plans it was given. One thread uses a Referee; torch's own
// threads are off, since many of them run side by side. Only broken machinery is an Error; all that
// plans do is in the report.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/lease.h"
#include "gym/language/kernel_executor.h"
#include "gym/plan/plan.h"
#include "gym/referee/protocol/referee_job.h"
#include "gym/trial/choice_trials.h"
#include "gym/trial/trial.h"

namespace tritonsmith::gym {
namespace cuda {
class FusedOracles;
}
namespace device {
class CudaDevice;
class Device;
}  // namespace device
namespace language::triton {
class CudaExecutor;
}
namespace timing {
struct TimingOutcome;
}
namespace trial {
struct KernelUse;
}
}  // namespace tritonsmith::gym

namespace tritonsmith::gym::referee {

struct LintReport;

class Referee {
 public:
  explicit Referee(std::unique_ptr<language::KernelExecutor> executor);
  // On a GPU: its verdicts have timings.
  // It is timed on alone, by turns with the others who have this lease.
  explicit Referee(std::unique_ptr<device::CudaDevice> gpu,
                   std::optional<Lease> lease = std::nullopt);
  ~Referee();

  bool knows(const std::string& task_key) const { return tasks_.contains(task_key); }
  // Fails when it is no plan of a task.
  Status add_task(const std::string& task_key, std::string_view plan_json);

  // Who runs forward of tasks whose plan lacks it, or does not replay; must outlive the referee.
  // Without one they cannot be judged.
  void use_shell(trial::ReferenceSource* shell) { shell_ = shell; }

  // The job's task must be known. Without a candidate it is the task itself that is looked at.
  RefereeReport judge(const RefereeJob& job);
  // No job is due: gives back memory that others on the same device would miss.
  void rest();
  // A candidate broke the GPU's context: no further job may be given.
  bool spent() const;

 private:
  // Task plans kept at once; a run has many tasks, and a forgotten one is simply sent again.
  static constexpr std::size_t kKeptTasks = 512;
  struct TrialContext;
  static constexpr int kBeyondAllChoices = 1 << 20;  // numbers of trials
  RefereeReport judge_known(const RefereeJob& job);
  RefereeReport judge_plans(const RefereeJob& job, const plan::Plan& task,
                            const plan::Plan& candidate);
  RefereeReport judge_by_shell(const RefereeJob& job, const plan::Plan& task,
                               const plan::Plan& candidate);
  RefereeReport judge_otherwise(const RefereeJob& job, const plan::Plan& candidate,
                                RefereeReport report);
  // The first thing to say of a job: nothing where it may be judged.
  std::optional<RefereeReport> too_large(const RefereeJob& job, const plan::Plan& task,
                                         const plan::Plan& candidate) const;
  // Whatever the candidate, who must fit beside.
  bool has_room_for_oracle(const RefereeJob& job, const plan::Plan& task) const;
  struct Soundness;
  trial::TrialResult run_usable_trial(trial::TrialConfig config, const Soundness& plain);
  trial::TrialResult run_ordered_trial(trial::TrialConfig config);
  // False when the candidate's numbers do not survive large or small inputs.
  bool run_extreme_trials(const TrialContext& context, trial::KernelUse& idle,
                          RefereeReport& report);
  enum class TrialOutcome { nothing, right, wrong };
  TrialOutcome run_extreme_trial(const TrialContext& context, trial::Perturbation kind,
                                 trial::KernelUse& idle, RefereeReport& report);
  bool run_later_call(const TrialContext& context, RefereeReport& report);
  RefereeReport look_at(const RefereeJob& job, const plan::Plan& task);
  LintReport lint_by_plan(const RefereeJob& job, const plan::Plan& task);
  LintReport lint_by_shell(const RefereeJob& job, const plan::Plan& task);
  // Asked of the shell once a task.
  tl::expected<trial::ReferenceMode, replay::Stop> mode_by_shell(const RefereeJob& job);
  // False when the job ends here.
  bool run_trials(TrialContext context, RefereeReport& report);
  bool is_timed(const RefereeJob& job) const {
    return gpu_ != nullptr && job.budget.timing_seconds > 0;
  }
  // False when the job ends here.
  bool run_other_choices(const TrialContext& context, RefereeReport& report);
  bool run_picked_choices(const TrialContext& context, const replay::Choices& picked,
                          RefereeReport& report);
  bool run_choice_trial(const TrialContext& context, int number, const trial::ChoiceTrial& choice,
                        RefereeReport& report);
  int timed_trial(const TrialContext& context) const;
  void time_plans(const TrialContext& context, const Soundness& plain, RefereeReport& report);
  timing::TimingOutcome time_alone(trial::Trial& trial, const RefereeJob& job);

  std::unique_ptr<device::CudaDevice> gpu_;  // none: the CPU
  std::unique_ptr<language::KernelExecutor> executor_;
  language::triton::CudaExecutor* cuda_ = nullptr;  // the same, on a GPU
  std::unique_ptr<cuda::FusedOracles> fused_;       // on a GPU
  device::Device* device_;
  std::optional<Lease> lease_;
  trial::ReferenceSource* shell_ = nullptr;
  std::map<std::string, trial::ReferenceMode> modes_;  // of tasks that the shell runs
  std::set<std::string> not_by_shell_;                 // tasks that neither replay nor run there
  std::optional<VerdictError> refusal_;                // why this job's task does not replay
  std::map<std::string, plan::Plan> tasks_;
  // Times of the reference from earlier jobs, by task: on this GPU, in this version.
  std::map<std::string, std::vector<double>> reference_ms_;
};

}  // namespace tritonsmith::gym::referee
