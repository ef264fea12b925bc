#include "gym/referee/referee.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <set>

#include "gym/compare/compare.h"
#include "gym/cuda/fused_oracles.h"
#include "gym/device/cuda_device.h"
#include "gym/language/triton/cuda_executor.h"
#include "gym/plan/analysis/eval_mode.h"
#include "gym/plan/analysis/plan_needs.h"
#include "gym/plan/operators/candidate_operators.h"
#include "gym/referee/report_entries.h"
#include "gym/referee/trial_context.h"
#include "gym/replay/operator_arguments.h"
#include "gym/trial/choice_trials.h"
#include "gym/trial/kernel_use.h"

namespace tritonsmith::gym::referee {
namespace {

Finding given_draws_note() {
  return {.rule = "given_draws",
          .severity = Severity::note,
          .message =
              "forward draws random numbers: both sides were given the same ones, before "
              "it, in the order of their calls"};
}

Finding eval_mode_note() {
  return {.rule = "judged_in_eval_mode",
          .severity = Severity::note,
          .message = "the reference draws random numbers in training mode"};
}

Finding no_oracle_note(const std::string& why) {
  return {.rule = "judged_without_oracle",
          .severity = Severity::note,
          .message = why + ": the plain tolerance alone decides"};
}

// Nobody could lay such a verdict beside KernelBench's.
std::optional<RefereeReport> beyond_kernelbench(const RefereeJob& job, const plan::Plan& task) {
  if (job.comparison != Comparison::allclose) return std::nullopt;
  std::vector<int> indices = trial::input_tensors(task);
  plan::append_tensors(task.outputs, indices);
  for (const plan::PlanParameter& parameter : task.parameters) indices.push_back(parameter.tensor);
  for (const int index : indices) {
    const auto dtype =
        tensors::scalar_type_of(task.tensors.at(static_cast<std::size_t>(index)).dtype);
    if (compare::precision_of(dtype) != compare::Precision::exact && !compare::is_kernelbenchs(dtype))
      return ended("not_comparable",
                   fmt::format("the task itself: it holds {}, for which KernelBench has no "
                               "tolerance; compare by budget",
                               c10::toString(dtype)),
                   Fault::none);
  }
  return std::nullopt;
}

// Of this process so far.
double processor_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

// Before anything of it is replayed.
std::optional<RefereeReport> unsafe(const RefereeJob& job, const plan::Plan& task,
                                    const plan::Plan& candidate) {
  const plan::PlanStep* step = plan::operators::find_unsafe_step(candidate);
  if (step == nullptr) return std::nullopt;
  RefereeReport report =
      ended("not_evaluable",
            fmt::format("{} is none of the operators that the judge runs for a candidate",
                        std::get<plan::AtenCall>(step->action).op),
            Fault::none);
  report.error->line = step->line;
  add_findings(report, trial::find_evidence(candidate, nullptr, task, job.policy));
  return report;
}

// What such atomics do on a chip is chance: a wrong value, no end, or nothing to be seen.
std::optional<RefereeReport> racing(const plan::Plan& candidate) {
  const std::vector<Finding> races = trial::find_narrow_atomics(candidate);
  if (races.empty()) return std::nullopt;
  RefereeReport report = ended(races[0].rule, races[0].message, Fault::candidate);
  report.error->line = races[0].line;
  return report;
}

bool ends_job(RefereeReport& report, const trial::TrialResult& result, Deadline deadline) {
  if (!take_failure(report, result)) return false;
  report.deadline_hit = report.fault == Fault::none && deadline.passed();
  return true;
}

// Broken, or out of time or memory: what a reference that only refuses its inputs is not.
bool broke_off(const replay::Stop& stop) {
  return stop.fault == Fault::infrastructure || stop.error.error_class == "too_large_to_evaluate";
}

// Of a trial whose inputs the judge changed: PyTorch refuses them, or loses its digits there. Where
// nobody knows how exact it is, it is on inputs that are only moved a little. `finite_else`: on
// the task's own inputs all its outputs are numbers. What heavy weights make of values is
// chaos: one score decides a softmax; what a few large elements make of scores is, too.
bool says_nothing(const trial::TrialResult& result, trial::Perturbation kind,
                  const plan::Plan& task, bool finite_else) {
  if (result.reference_stop) return !broke_off(*result.reference_stop);
  const bool is_precise = result.is_exact_known ? result.reference_error <= trial::kPreciseShare
                                                : trial::moves_a_little(kind);
  const bool is_finite = result.reference_is_finite || !finite_else;
  if (result.candidate_stop || result.breaks_down) return false;
  const bool is_chaos = kind == trial::Perturbation::heavy ||
                        (kind == trial::Perturbation::spiked && trial::decides_by_scores(task));
  return is_chaos || !(is_finite && is_precise);
}

bool watches(const Policy policy, const trial::KernelUse& idle) {
  return idle.torch_computed && idle.copies.stands && policy != Policy::strict;
}

}  // namespace

Referee::Referee(std::unique_ptr<language::KernelExecutor> executor)
    : executor_(std::move(executor)), device_(&device::cpu_device()) {
  at::set_num_threads(1);
}

Referee::Referee(std::unique_ptr<device::CudaDevice> gpu, std::optional<Lease> lease)
    : gpu_(std::move(gpu)), device_(gpu_.get()), lease_(std::move(lease)) {
  at::set_num_threads(1);
  at::globalContext().setAllowTF32CuDNN(false);
  auto cuda = std::make_unique<language::triton::CudaExecutor>(gpu_->driver());
  cuda_ = cuda.get();
  executor_ = std::move(cuda);
  fused_ =
      std::make_unique<cuda::FusedOracles>(gpu_->driver(), gpu_->nvrtc(), gpu_->facts().target);
}

Referee::~Referee() = default;

bool Referee::spent() const { return device_->spent(); }

Status Referee::add_task(const std::string& task_key, std::string_view plan_json) {
  TRY_ASSIGN(plan::Plan plan, plan::parse_plan(plan_json));
  if (plan.role != plan::PlanRole::task) return fail("the plan is a candidate's, not a task's");
  if (tasks_.size() >= kKeptTasks) {
    tasks_.clear();
    reference_ms_.clear();
    modes_.clear();
    not_by_shell_.clear();
  }
  tasks_.insert_or_assign(task_key, std::move(plan));
  return ok();
}

void Referee::rest() { device_->release(); }

RefereeReport Referee::judge(const RefereeJob& job) {
  constexpr double nearly_all = 0.75;
  const Stopwatch watch;
  const double before = processor_seconds();
  RefereeReport report = judge_known(job);
  // It had a core: on a machine that does nothing else it would take as long.
  if (gpu_ == nullptr && processor_seconds() - before >= nearly_all * watch.seconds())
    report.deadline_hit = false;
  add_time(report, "referee", watch.milliseconds());
  return report;
}

RefereeReport Referee::judge_known(const RefereeJob& job) {
  const auto task = tasks_.find(job.task_key);
  CHECK(task != tasks_.end(), "a job for the unknown task {}", job.task_key);
  if (job.candidate_plan.empty()) return look_at(job, task->second);
  auto candidate = plan::parse_plan(job.candidate_plan);
  if (!candidate) return ended("bad_plan", candidate.error().message, Fault::candidate);
  if (candidate->role != plan::PlanRole::candidate)
    return ended("bad_plan", "the plan is no candidate's", Fault::candidate);
  // Drawing and comparing call LibTorch outside a plan's steps; what it throws there is lack of
  // memory.
  try {
    refusal_.reset();
    RefereeReport report = judge_plans(job, task->second, *candidate);
    if (refusal_ && shell_ != nullptr && !not_by_shell_.contains(job.task_key))
      report = judge_otherwise(job, *candidate, std::move(report));
    return report;
  } catch (const std::exception& error) {
    const bool refused = device_->refused() ||
                         dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
                         dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
    device_->end();
    const std::string what = error.what();
    return ended(refused ? "too_large_to_evaluate" : "referee_failed",
                 what.substr(0, what.find('\n')), refused ? Fault::none : Fault::infrastructure);
  }
}

std::optional<RefereeReport> Referee::too_large(const RefereeJob& job, const plan::Plan& task,
                                                const plan::Plan& candidate) const {
  const auto capacity = static_cast<double>(device_->capacity(job.budget.memory_bytes));
  const double needed = plan::analysis::needed_bytes(task, candidate) +
                        (has_room_for_oracle(job, task) ? plan::analysis::oracle_bytes(task) : 0);
  if (needed <= capacity) return std::nullopt;
  RefereeReport report = ended("too_large_to_evaluate",
                               fmt::format("needs {:.1f} GiB of memory, the budget is {:.1f}",
                                           needed / (1 << 30), capacity / (1 << 30)),
                               Fault::none);
  add_findings(report, trial::find_evidence(candidate, nullptr, task, job.policy));
  return report;
}

bool Referee::has_room_for_oracle(const RefereeJob& job, const plan::Plan& task) const {
  return plan::analysis::needed_bytes_with_oracle(task) <=
         static_cast<double>(device_->capacity(job.budget.memory_bytes));
}

RefereeReport Referee::judge_plans(const RefereeJob& job, const plan::Plan& task,
                                   const plan::Plan& candidate) {
  if (auto refused = beyond_kernelbench(job, task)) return *std::move(refused);
  if (auto refused = unsafe(job, task, candidate)) return *std::move(refused);
  if (cuda_ != nullptr)
    if (auto refused = racing(candidate)) return *std::move(refused);
  if (!task.unplanned.empty()) return judge_by_shell(job, task, candidate);
  const Deadline deadline = deadline_of(job);
  if (cuda_ != nullptr) cuda_->use(job.kernels);
  if (auto refused = too_large(job, task, candidate)) return *std::move(refused);
  RefereeReport report;
  const bool with_oracle = has_room_for_oracle(job, task);
  if (!with_oracle)
    report.findings.push_back(no_oracle_note("no memory for the reference in float64"));
  if (!plan::analysis::draws_in_forward(task)) {
    TrialContext context{job, task, candidate, deadline, with_oracle};
    if (fused_ && with_oracle) context.fused = fused_->find(task);
    run_trials(context, report);
    return report;
  }
  plan::Plan calm = plan::analysis::in_eval_mode(task),
             calm_candidate = plan::analysis::in_eval_mode(candidate);
  if (!(calm == task)) report.findings.push_back(eval_mode_note());
  if (plan::analysis::draws_in_forward(calm)) {
    calm = plan::analysis::with_draws_first(std::move(calm));
    calm_candidate = plan::analysis::with_draws_first(std::move(calm_candidate));
    if (plan::analysis::draws_in_forward(calm))
      return ended("nondeterministic_reference",
                   "the reference draws random numbers that follow from tensors, even in "
                   "evaluation mode",
                   Fault::none);
    report.findings.push_back(given_draws_note());
  }
  if (!run_trials({job, calm, calm_candidate, deadline, with_oracle}, report) && !(calm == task) &&
      report.error && report.error->error_class == "wrong_value")
    report.error->message +=
        " (judged in evaluation mode, since the task draws at random: nothing may be dropped)";
  return report;
}

// The shell's start and its first run of the task are not on the job's time.
RefereeReport Referee::judge_by_shell(const RefereeJob& job, const plan::Plan& task,
                                      const plan::Plan& candidate) {
  const std::string why = "forward cannot be captured (" + task.unplanned + ")";
  RefereeReport report;
  report.reference = ReferenceKind::shell;
  const auto refused = [&](std::string error_class, const std::string& message, Fault fault) {
    RefereeReport end = ended(std::move(error_class), message, fault);
    end.reference = ReferenceKind::shell;
    return end;
  };
  if (shell_ == nullptr)
    return refused("task_failed", "the task itself: " + why + ", and no reference shell is here",
                   Fault::none);
  if (cuda_ != nullptr) cuda_->use(job.kernels);
  if (auto large = too_large(job, task, candidate)) return *std::move(large);
  const auto mode = mode_by_shell(job);
  if (!mode)
    return refused(mode.error().error.error_class,
                   fmt::format("the task itself: {}; {}", mode.error().error.message, why),
                   mode.error().fault);
  TrialContext context{job,    task, candidate, deadline_of(job), has_room_for_oracle(job, task),
                       shell_, *mode};
  report.findings.push_back({.rule = "reference_shell",
                             .severity = Severity::note,
                             .message = why + ": the task's Python ran in the reference shell"});
  if (context.mode == trial::ReferenceMode::train) {
    run_trials(context, report);
    return report;
  }
  report.findings.push_back(eval_mode_note());
  const plan::Plan candidate_in_eval = plan::analysis::in_eval_mode(candidate);
  run_trials(
      {job, task, candidate_in_eval, context.deadline, context.with_oracle, shell_, context.mode},
      report);
  return report;
}

// The task was captured, and yet its forward does not replay here: the shell may run it. Where it
// does not run there either, what the replay said stands.
RefereeReport Referee::judge_otherwise(const RefereeJob& job, const plan::Plan& candidate,
                                       RefereeReport report) {
  plan::Plan& task = tasks_.at(job.task_key);
  plan::Plan planned = std::exchange(task, plan::analysis::without_forward(task, *refusal_));
  RefereeReport by_shell = judge_plans(job, task, candidate);
  if (!by_shell.error || by_shell.error->error_class != "task_failed") return by_shell;
  task = std::move(planned);
  not_by_shell_.insert(job.task_key);
  return report;
}

// A perturbed trial counts only where the reference's numbers are still as sound as on the task's
// own distribution: sin(exp(x * x)) loses all its digits at twice the inputs, in PyTorch and in a
// kernel that is right. Else weights are changed less, then inputs not at all, then neither.
trial::TrialResult Referee::run_usable_trial(trial::TrialConfig config, const Soundness& plain) {
  // What kernels write is looked at once, and what they write beside their buffers closely once.
  const bool is_first = config.trial == 0;
  if (cuda_ != nullptr) {
    cuda_->observe_with(is_first || config.watch_launches ? &gpu_->kernels() : nullptr,
                        replay::kKernelPatience);
    gpu_->guard_with(is_first ? device::CudaDevice::kWideGuard : device::CudaDevice::kNarrowGuard);
  }
  trial::TrialResult result = run_ordered_trial(config);
  if (config.kind == trial::Perturbation::plain || plain.holds_for(result)) return result;
  config.weights = trial::WeightChange::gentle;
  result = run_ordered_trial(config);
  if (plain.holds_for(result)) return result;
  config.kind = trial::Perturbation::plain;
  config.weights = trial::WeightChange::strong;
  if (!config.task.parameters.empty()) result = run_ordered_trial(config);
  if (!config.task.parameters.empty() && plain.holds_for(result)) return result;
  config.weights.reset();
  return run_ordered_trial(config);
}

// A candidate that fails with its programs in another order tries the same again with them in
// order: who then is right lives on that order, which no chip keeps to.
trial::TrialResult Referee::run_ordered_trial(trial::TrialConfig config) {
  const auto error = [](const trial::TrialResult& result) -> const VerdictError* {
    if (!result.candidate_stop) return result.difference ? &*result.difference : nullptr;
    return result.candidate_stop->fault == Fault::candidate ? &result.candidate_stop->error
                                                            : nullptr;
  };
  trial::TrialResult result = trial::run_trial(config, *executor_, *device_);
  if (error(result) == nullptr || config.order.kind == language::ProgramOrder::Kind::forwards ||
      !executor_->set_order({}))
    return result;
  config.order = {};
  trial::TrialResult in_order = trial::run_trial(config, *executor_, *device_);
  if (in_order.candidate_stop || in_order.reference_stop || in_order.difference) return in_order;
  VerdictError race = *error(result);
  race.message = "with programs in another order: " + race.message;
  race.error_class = "race";
  in_order.difference = std::move(race);
  std::ranges::move(result.findings, std::back_inserter(in_order.findings));
  return in_order;
}

bool Referee::run_trials(TrialContext context, RefereeReport& report) {
  report.numerics = Numerics{};
  Soundness plain;
  trial::KernelUse idle{.torch_computed = trial::computes_in_torch(context.candidate)};
  for (int trial = 0; trial < std::max(1, context.job.trials); ++trial) {
    if (trial == timed_trial(context)) continue;  // comes last
    trial::TrialConfig config = context.setting(trial, trial::perturbation_of_trial(trial));
    config.try_without_kernels = idle.needless.stands;
    config.watch_launches = watches(context.job.policy, idle);
    const trial::TrialResult result = run_usable_trial(config, plain);
    idle.needless.hear(result.right_without_kernels, result.needless_by_coincidence);
    idle.copies.hear(result.kernels_only_copied, result.copied_by_coincidence);
    add_trial(report, result);
    const bool ran = !result.candidate_stop && !result.reference_stop;
    if (!result.no_oracle.empty())
      add_findings(report, {no_oracle_note("in float64: " + result.no_oracle)});
    if (trial == 0) {
      if (result.forward_refused && !result.candidate_stop) refusal_ = result.reference_stop->error;
      add_findings(report, trial::find_evidence(context.candidate, ran ? &result.launches : nullptr,
                                                context.task, context.job.policy));
      report.ran = ran;
      plain = {result.reference_is_finite, result.reference_error};
      context.is_finite = plain.is_finite;
    }
    if (ends_job(report, result, context.deadline)) return false;
    ++report.numerics->trials;
    if (trial == 0 && result.reference_keeps_state && !context.task.first_call_only &&
        context.shell == nullptr && !run_later_call(context, report))
      return false;
  }
  const bool survives = run_extreme_trials(context, idle, report);
  if (cuda_ != nullptr) cuda_->observe_with(nullptr);
  add_findings(report, trial::find_idle_work(context.candidate, idle, context.job.policy));
  if (survives) run_other_choices(context, report);
  if (is_timed(context.job) && !report.error) time_plans(context, plain, report);
  report.correct = !report.error;
  return report.correct;
}

// What the first call left behind shows in the second.
bool Referee::run_later_call(const TrialContext& context, RefereeReport& report) {
  trial::TrialConfig config = context.setting(context.job.trials, trial::Perturbation::plain);
  config.later_call = true;
  const trial::TrialResult result = run_ordered_trial(config);
  add_trial(report, result);
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault != Fault::infrastructure)
    report.error->message = "in the second call of forward: " + report.error->message;
  return false;
}

// Beyond the trials that were asked for. They say nothing where PyTorch itself loses its digits.
// What only seemed to copy does not here: a maximum with zero passes on what is positive anyway.
// Nobody is excused from them by time that is gone, or by not ending there.
bool Referee::run_extreme_trials(const TrialContext& context, trial::KernelUse& idle,
                                 RefereeReport& report) {
  bool is_known_far_above = false;
  for (const trial::Perturbation kind : trial::extreme_perturbations(context.task)) {
    if (kind == trial::Perturbation::above && is_known_far_above) continue;
    const TrialOutcome told = run_extreme_trial(context, kind, idle, report);
    if (told == TrialOutcome::wrong) return false;
    if (kind == trial::Perturbation::shifted) is_known_far_above = told == TrialOutcome::right;
  }
  const bool is_open =
      idle.needless.is_open() || (watches(context.job.policy, idle) && idle.copies.is_open());
  return !is_open || run_extreme_trial(context, trial::Perturbation::negated, idle, report) !=
                         TrialOutcome::wrong;
}

Referee::TrialOutcome Referee::run_extreme_trial(const TrialContext& context,
                                                 trial::Perturbation kind, trial::KernelUse& idle,
                                                 RefereeReport& report) {
  trial::TrialConfig config = context.setting(context.job.trials, kind);
  config.try_without_kernels = idle.needless.is_open();
  config.watch_launches = watches(context.job.policy, idle);
  if (cuda_ != nullptr)
    cuda_->observe_with(config.watch_launches ? &gpu_->kernels() : nullptr,
                        replay::kKernelPatience);
  const trial::TrialResult result = run_ordered_trial(config);
  if (says_nothing(result, kind, context.task, context.is_finite)) return TrialOutcome::nothing;
  const bool ran = !result.reference_stop && !result.candidate_stop;
  if (ran && config.watch_launches)
    idle.copies.hear(result.kernels_only_copied, result.copied_by_coincidence);
  if (ran && config.try_without_kernels)
    idle.needless.hear(result.right_without_kernels, result.needless_by_coincidence);
  const Numerics before = *report.numerics;
  add_trial(report, result);
  report.numerics = before;  // these differences are of another size
  if (!ends_job(report, result, context.deadline)) return TrialOutcome::right;
  if (report.fault != Fault::infrastructure)
    report.error->message =
        fmt::format("with {}: {}", trial::what_is_done(kind), report.error->message);
  return TrialOutcome::wrong;
}

bool Referee::run_other_choices(const TrialContext& context, RefereeReport& report) {
  int number = context.job.trials;
  for (const trial::ChoiceTrial& each :
       trial::choice_trials(context.task, context.candidate, context.job.secret))
    if (!run_choice_trial(context, ++number, each, report)) return false;
  return true;
}

bool Referee::run_choice_trial(const TrialContext& context, int number,
                               const trial::ChoiceTrial& choice, RefereeReport& report) {
  const bool is_plain = choice.perturbation == trial::Perturbation::plain;
  const trial::TrialResult result =
      run_ordered_trial(context.setting(number, choice.perturbation, choice.choices));
  if (!is_plain && says_nothing(result, choice.perturbation, context.task, context.is_finite))
    return true;
  const Numerics before = *report.numerics;
  add_trial(report, result);
  if (!is_plain) report.numerics = before;
  if (!ends_job(report, result, context.deadline)) return true;
  if (report.fault != Fault::infrastructure)
    report.error->message = fmt::format(
        "with {}: {}", replay::text_of(choice.choices, context.candidate), report.error->message);
  return false;
}

// What was timed is what its user gets.
bool Referee::run_picked_choices(const TrialContext& context, const replay::Choices& picked,
                                 RefereeReport& report) {
  const auto is_first = [](const auto& each) { return each.second == 0; };
  if (std::ranges::all_of(picked, is_first)) return true;
  const std::vector<trial::ChoiceTrial> tried =
      trial::choice_trials(context.task, context.candidate, context.job.secret);
  int number = kBeyondAllChoices;
  for (const trial::Perturbation kind : trial::perturbations_for_choices(context.task)) {
    const trial::ChoiceTrial trial{.perturbation = kind, .choices = picked};
    if (std::ranges::find(tried, trial) == tried.end() &&
        !run_choice_trial(context, ++number, trial, report))
      return false;
  }
  return true;
}

}  // namespace tritonsmith::gym::referee
