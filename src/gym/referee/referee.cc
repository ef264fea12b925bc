#include "gym/referee/referee.h"

#include <algorithm>
#include <ctime>

#include "gym/plan/analysis/cost/plan_needs.h"
#include "gym/plan/analysis/drawn_constants.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/analysis/named_epsilons.h"
#include "gym/referee/adequacy/measure.h"
#include "gym/referee/calibrate.h"
#include "gym/referee/equipment.h"
#include "gym/referee/judge_plans.h"
#include "gym/referee/lint_job.h"
#include "gym/referee/report_entries.h"

namespace tritonsmith::gym::referee {
namespace {

// Returns the seconds of processor time that this process has used so far.
double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Drawing and comparing call LibTorch outside a plan's steps, which may throw.
Adequacy adequacy_of(Equipment& equipment, const RefereeJob& job, const plan::Plan& task) {
  try {
    return measure_adequacy(equipment, job, task);
  } catch (const std::exception& error) {
    equipment.device.end();
    const std::string what = error.what();
    return {.why_not = what.substr(0, what.find('\n'))};
  }
}

bool is_lack_of_memory(const std::exception& error) {
  return dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
         dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         std::string_view(error.what()).find("ALLOC_FAILED") != std::string_view::npos;  // cuBLAS
}

// If LibTorch throws while the judge itself draws, changes or compares tensors, the plans alone are
// the cause: another machine would throw too. So it is a verdict, and no one is to blame. Only
// a GPU that fails is the machine's fault.
RefereeReport thrown(const std::exception& error, bool lacks_memory) {
  std::string what = error.what();
  what.resize(std::min(what.find('\n'), what.size()));
  if (lacks_memory) return ended(ErrorClass::too_large_to_evaluate, what, Fault::none);
  if (dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr)
    return ended(ErrorClass::referee_failed, what, Fault::infrastructure);
  return ended(ErrorClass::not_evaluable,
               "the judge cannot draw or compare the tensors of this task: " + what, Fault::none);
}

}  // namespace

Referee::Referee(std::unique_ptr<language::KernelExecutor> executor)
    : equipment_(std::make_unique<Equipment>(std::move(executor))) {}

Referee::Referee(std::unique_ptr<device::CudaDevice> gpu, std::optional<Lease> lease)
    : equipment_(std::make_unique<Equipment>(std::move(gpu), std::move(lease))) {}

Referee::~Referee() = default;

bool Referee::spent() const { return equipment_->device.spent(); }

Result<Calibration> Referee::calibrate() { return referee::calibrate(*equipment_); }

void Referee::rest() { equipment_->device.release(); }

Status Referee::add_task(const std::string& task_key, std::string_view plan_json) {
  TRY_ASSIGN(plan::Plan plan, plan::parse_plan(plan_json));
  if (plan.role != plan::PlanRole::task) return fail("the plan is a candidate's, not a task's");
  std::vector<std::string> left;
  plan = plan::analysis::with_drawn_constants(std::move(plan));
  plan = plan::analysis::with_named_epsilons(std::move(plan));
  tasks_.add(task_key, std::move(plan), plan_json.size(), &left);
  for (const std::string& key : left) {
    equipment_->reference_ms.erase(key);
    equipment_->domains.erase(key);
    python_.forget_task(key);
  }
  return ok();
}

RefereeReport Referee::judge(const RefereeJob& job) {
  constexpr double nearly_all = 0.75;
  const Stopwatch watch;
  const double before = processor_seconds();
  RefereeReport report = judge_known(job);
  // The job had a core to itself, so it would take as long on a machine that does nothing else.
  if (equipment_->gpu == nullptr && processor_seconds() - before >= nearly_all * watch.seconds())
    report.deadline_hit = false;
  add_time(report, "referee", watch.milliseconds());
  return report;
}

RefereeReport Referee::judge_known(const RefereeJob& job) {
  const plan::Plan* task = tasks_.find(job.task_key);
  CHECK(task != nullptr, "a job for the unknown task {}", job.task_key);
  if (job.candidate_plan.empty()) {
    RefereeReport report;
    if (!job.adequacy_only) report = lint_job(*equipment_, python_, job, *task);
    if (job.adequacy_secrets > 0) report.adequacy = adequacy_of(*equipment_, job, *task);
    return report;
  }
  auto candidate = plan::parse_plan(job.candidate_plan);
  if (!candidate) return ended(ErrorClass::bad_plan, candidate.error().message, Fault::candidate);
  if (candidate->role != plan::PlanRole::candidate)
    return ended(ErrorClass::bad_plan, "the plan is no candidate's", Fault::candidate);
  candidate->input_names = task->input_names;
  // Drawing and comparing call LibTorch outside a plan's steps.
  try {
    PlanJudgement judgement = judge_plans(*equipment_, python_, job, *task, *candidate);
    if (judgement.refusal && !spent() && python_.may_run(job.task_key))
      return judge_in_python(job, *candidate, std::move(judgement));
    return std::move(judgement.report);
  } catch (const std::exception& error) {
    const bool lacks_memory = equipment_->device.refused() || is_lack_of_memory(error);
    equipment_->device.end();
    return thrown(error, lacks_memory);
  }
}

// The task was captured, and yet its forward does not replay here. The Python reference may run it.
// If it does not run there either, the first judgement stands.
RefereeReport Referee::judge_in_python(const RefereeJob& job, const plan::Plan& candidate,
                                       PlanJudgement first) {
  plan::Plan& task = *tasks_.find(job.task_key);
  plan::Plan planned = std::exchange(task, plan::analysis::without_forward(task, *first.refusal));
  RefereeReport report = judge_plans(*equipment_, python_, job, task, candidate).report;
  if (!report.error || report.error->error_class != ErrorClass::task_failed) return report;
  task = std::move(planned);
  python_.note_failure(job.task_key);
  return std::move(first.report);
}

}  // namespace tritonsmith::gym::referee
