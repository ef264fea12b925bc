#include "gym/judge/coordinator.h"

#include <algorithm>
#include <limits>

#include "base/hash.h"
#include "gym/judge/referee_jobs.h"

namespace tritonsmith::gym::judge {
namespace {

// A killed guest is retried. The first retry runs beside the other jobs, since the killer
// probably meant another process. The second retry runs alone. A guest that is killed alone has
// caused it itself.
constexpr int kKillsForgiven = 2;

}  // namespace

Coordinator::Coordinator(const LocalJudgeConfig& config, LocalJudgeParts parts, api::Outbox& outbox)
    : config_(config),
      parts_(std::move(parts)),
      outbox_(outbox),
      events_(std::numeric_limits<std::size_t>::max()),
      schedule_(static_cast<std::size_t>(config.in_flight)),
      tasks_(static_cast<std::size_t>(config.task_plans),
             static_cast<std::size_t>(config.task_plans_mib) << 20),
      delivery_(std::exchange(parts_.store, std::nullopt), outbox),
      referees_(config.calibration_seconds,
                [this](RefereeAnswer answer) { events_.push(std::move(answer)); }) {
  start_referees();
  thread_ = std::jthread([this] { run(); });
}

// The coordinator's thread ends first. Events that it has not handled are dropped, so that no new
// work begins, and the pool's last callbacks push to a closed queue. A referee at work is
// interrupted, because no caller waits for its report.
Coordinator::~Coordinator() {
  stopping_ = true;
  events_.close();
  thread_.join();
  referees_.stop();
  parts_.pool.reset();
}

void Coordinator::start_referees() {
  for (int k = 0; k < config_.referees; ++k)
    referees_.start(parts_.make_referee(), Backend::evaluate, k,
                    {.name = fmt::format("cpu:{}", k)});
  for (int number = 0; number < std::ssize(parts_.gpus); ++number) {
    const ReplayGpu& gpu = parts_.gpus.at(static_cast<std::size_t>(number));
    referees_.start(parts_.make_replay_referee(number), Backend::replay, number,
                    {.name = fmt::format("cuda:{}", gpu.ordinal), .gpu = gpu.uuid});
  }
}

void Coordinator::run() {
  while (auto event = events_.pop()) {
    if (stopping_) return;
    std::visit([this](auto& what) { handle(what); }, *event);
    while (auto job = schedule_.next()) start(*std::move(job));
  }
}

void Coordinator::handle(Submitted& event) {
  JobProgress progress{
      .serial = next_serial_++, .job = std::move(event.job), .submitted = event.at};
  // The key of a verdict holds the text of its task, which says nothing of the data that it reads.
  // A store has no verdicts on edited PTX, and none that hold PTX.
  if (!config_.capture.data.empty() || !progress.job.ptx.empty() || progress.job.shows_ptx)
    progress.job.use_store = false;
  if (const auto known =
          facts_.learn(*parts_.pool, config_, parts_.gpus, parts_.ceilings, stopping_);
      !known) {
    Verdict verdict = infrastructure_verdict(progress, known.error().message, facts_.context());
    delivery_.give(std::move(progress), std::move(verdict));
    return;
  }
  progress.task_key = content_key(progress.job.task.source);
  progress.key =
      verdict_key(progress.job, progress.job.backend, versions().of(progress.job.backend));
  if (progress.job.use_store &&
      (delivery_.answer_from_store(progress) || schedule_.follow_an_equal_one(progress)))
    return;
  schedule_.add(std::move(progress));
}

void Coordinator::handle(Cancelled& event) {
  const JobSchedule::Withdrawal withdrawn = schedule_.withdraw(event.id);
  if (withdrawn.is_known) outbox_.drop();
  if (withdrawn.idle == nullptr) return;
  JobProgress& progress = *withdrawn.idle;
  const bool compiles = std::ranges::any_of(
      progress.units, [](const CompileUnit& unit) { return !unit.outcome && !unit.is_dropped; });
  // A referee's run ends by itself soon. A guest or many compilations may take long.
  if (progress.pool_id == 0 && !compiles) return;
  if (progress.pool_id != 0) parts_.pool->cancel(progress.pool_id);
  stop_compiling(progress, 0);
  schedule_.take(progress.serial);
}

void Coordinator::start(JobProgress progress) {
  progress.queue_ms = milliseconds_since(progress.submitted);
  progress.inspection = parts_.inspect(progress.job.kernel, progress.job.policy);
  if (std::ranges::find(progress.inspection, Severity::reject, &Finding::severity) !=
      progress.inspection.end()) {
    Verdict verdict = verdict_of(progress, facts_.context());
    delivery_.give(std::move(progress), std::move(verdict));
    return;
  }
  progress.serial = next_serial_++;
  await_task(schedule_.run(std::move(progress)));
}

void Coordinator::await_task(JobProgress& progress) {
  const std::string key = progress.task_key;
  TaskPlan& task =
      tasks_.entry(key, [this](const std::string& other) { return schedule_.runs_task(other); });
  task.last_used = progress.serial;
  if (task.ready) {
    capture(progress, task);
    return;
  }
  task.waiting.push_back(progress.serial);
  if (task.waiting.size() > 1) return;
  parts_.pool->capture({.role = capture::CaptureRole::task,
                        .source = progress.job.task.source,
                        .path = "task.py",
                        .target = config_.target},
                       [this, key](capture::CaptureOutcome outcome) {
                         events_.push(TaskCaptured{key, std::move(outcome)});
                       });
}

void Coordinator::handle(TaskCaptured& event) {
  TaskPlan& task = tasks_.at(event.task_key);
  const std::vector<std::uint64_t> waiting = std::exchange(task.waiting, {});
  const auto* fault = std::get_if<sandbox::InfrastructureFault>(&event.outcome.result);
  const auto* failure = std::get_if<sandbox::CandidateFailure>(&event.outcome.result);
  if (failure != nullptr) task.failure = failure->error;
  if (const auto* plan = std::get_if<capture::CapturedPlan>(&event.outcome.result))
    task.read(plan->json);
  task.ready = fault == nullptr;
  const bool timed_out =
      task.failure && task.failure->error_class == ErrorClass::timeout && !failure->undisturbed;
  const bool killed = task.failure && task.failure->error_class == ErrorClass::killed;
  for (const std::uint64_t serial : waiting) {
    JobProgress* progress = schedule_.find(serial);
    if (progress == nullptr) continue;
    if (fault != nullptr || (timed_out && !progress->alone) ||
        (killed && progress->kills < kKillsForgiven)) {
      progress->capture = std::move(event.outcome);
      event.outcome = *progress->capture;
      conclude(serial);
    } else {
      capture(*progress, task);
    }
  }
  if (fault != nullptr || timed_out || killed) tasks_.forget(event.task_key);
}

void Coordinator::capture(JobProgress& progress, const TaskPlan& task) {
  if (task.failure) {
    JobProgress done = schedule_.take(progress.serial);
    Verdict verdict = task_failure_verdict(done, *task.failure, facts_.context());
    delivery_.give(std::move(done), std::move(verdict));
    return;
  }
  lint(progress);
  const std::uint64_t serial = progress.serial;
  const bool on_gpu = progress.job.backend == Backend::replay && !parts_.gpus.empty();
  progress.pool_id =
      parts_.pool->capture({.role = capture::CaptureRole::candidate,
                            .source = progress.job.kernel,
                            .init_args_json = task.init_args,
                            .inputs_json = task.inputs,
                            .tensors_json = task.tensors,
                            .known_json = task.known,
                            .first_call_only = task.first_call_only,
                            .in_eval_mode = task.in_eval_mode,
                            .ignores_mode = task.ignores_mode,
                            .target = config_.target,
                            .device_json = on_gpu ? parts_.gpus.front().properties : ""},
                           [this, serial](capture::CaptureOutcome outcome) {
                             events_.push(Captured{serial, std::move(outcome)});
                           });
}

void Coordinator::handle(Captured& event) {
  JobProgress* progress = schedule_.find(event.serial);
  if (progress == nullptr) return;
  progress->pool_id = 0;
  progress->capture = std::move(event.outcome);
  auto* captured = std::get_if<capture::CapturedPlan>(&progress->capture->result);
  if (captured == nullptr) {
    conclude(event.serial);
    return;
  }
  auto plan = plan::parse_plan(captured->json);
  if (!plan || plan->role != plan::PlanRole::candidate) {
    progress->plan_error =
        plan ? "the guest handed over a plan of another kind" : plan.error().message;
    conclude(event.serial);
    return;
  }
  progress->plan_json = std::move(captured->json);
  progress->plan = *std::move(plan);
  compile_and_referee(*progress);
}

void Coordinator::compile_and_referee(JobProgress& progress) {
  const std::uint64_t serial = progress.serial;
  progress.units = compile_units(*progress.plan);
  if (const Status put = put_ptx(progress.job.ptx, progress.units); !put) {
    progress.request_error = put.error().message;
    progress.plan.reset();
    progress.units.clear();
    conclude(serial);
    return;
  }
  const bool on_gpu = progress.job.backend == Backend::replay;
  // The evaluator runs Triton IR, so it knows nothing of edited PTX.
  const bool evaluates = !on_gpu && progress.job.ptx.empty();
  progress.pending = progress.units.size() + (evaluates ? 1 : 0);
  for (std::size_t unit = 0; unit < progress.units.size(); ++unit) {
    compile::CompileRequest& request = progress.units[unit].request;
    request.job = serial;
    request.wants_ptx = progress.job.shows_ptx;
    progress.units[unit].pool_id =
        parts_.pool->compile(request, [this, serial, unit](compile::CompileOutcome outcome) {
          events_.push(Compiled{serial, unit, std::move(outcome)});
        });
  }
  if (evaluates)
    referees_.push(
        candidate_work(progress, config_, parts_.secret, tasks_.at(progress.task_key).json));
  else if (progress.pending == 0)
    replay(progress);
}

void Coordinator::stop_compiling(JobProgress& progress, std::size_t first) {
  for (std::size_t k = first; k < progress.units.size(); ++k) {
    CompileUnit& unit = progress.units[k];
    if (unit.outcome || unit.is_dropped) continue;
    parts_.pool->cancel(unit.pool_id);
    unit.is_dropped = true;
    --progress.pending;
  }
}

bool Coordinator::replay(JobProgress& progress) {
  if (progress.job.backend != Backend::replay || progress.referee) return false;
  auto kernels = binaries_of(progress);
  if (!kernels) return false;
  RefereeWork work =
      candidate_work(progress, config_, parts_.secret, tasks_.at(progress.task_key).json);
  work.job.kernels = std::move(*kernels);
  progress.pending = 1;
  referees_.push(std::move(work));
  return true;
}

void Coordinator::handle(Compiled& event) {
  JobProgress* progress = schedule_.find(event.serial);
  if (progress == nullptr || progress->units.at(event.unit).is_dropped) return;
  if (auto* kernel = std::get_if<compile::CompiledKernel>(&event.outcome.result)) {
    if (progress->job.backend != Backend::replay)
      kernel->cubin.clear();  // the evaluator does not need it
  }
  progress->units.at(event.unit).outcome = std::move(event.outcome);
  if (const auto failed = deciding_failure(*progress)) stop_compiling(*progress, *failed + 1);
  advance(event.serial);
}

void Coordinator::handle(RefereeAnswer& event) {
  if (const auto* failure = std::get_if<RefereeFailure>(&event.outcome);
      failure != nullptr && failure->kind == RefereeFailure::Kind::misjudges) {
    outbox_.break_down({failure->message});
    return;
  }
  if (!event.work.lint_key.empty()) return hear_of_task(event);
  JobProgress* progress = schedule_.find(event.work.serial);
  if (progress == nullptr) return;
  progress->referee = std::move(event.outcome);
  progress->gpu = std::move(event.gpu);
  advance(event.work.serial);
}

void Coordinator::advance(std::uint64_t serial) {
  JobProgress& progress = *schedule_.find(serial);
  if (--progress.pending > 0) return;
  if (progress.passed_over.empty()) pass_over_configs(progress);
  if (!replay(progress)) conclude(serial);
}

void Coordinator::conclude(std::uint64_t serial) {
  JobProgress progress = schedule_.take(serial);
  const Ending ending = ending_of(progress);
  if (ending == Ending::infrastructure) {
    constexpr int retries = 1;
    if (++progress.infrastructure_faults > retries) {
      Verdict verdict =
          infrastructure_verdict(progress, infrastructure_message(progress), facts_.context());
      delivery_.give(std::move(progress), std::move(verdict));
      return;
    }
    start_over(progress);
    schedule_.retry(std::move(progress));
  } else if (ending == Ending::killed && ++progress.kills < kKillsForgiven) {
    start_over(progress);
    schedule_.retry(std::move(progress));
  } else if ((ending == Ending::deadline && !progress.alone) ||
             (ending == Ending::killed && progress.kills == kKillsForgiven)) {
    start_over(progress);
    schedule_.retry_alone(std::move(progress));
  } else {
    give_verdict(std::move(progress));
  }
}

// The linter begins while the task's first candidate is captured.
void Coordinator::lint(JobProgress& progress) {
  progress.lint_key = TaskLints::key_of(progress.job);
  if (lints_.begin(progress.lint_key))
    referees_.push(lint_work(progress, config_, parts_.secret, tasks_.at(progress.task_key).json));
}

void Coordinator::hear_of_task(RefereeAnswer& event) {
  const TaskLints::Heard heard = lints_.hear(event.work.lint_key, event.outcome);
  if (heard.ask_again) referees_.push(std::move(event.work));
  for (const std::uint64_t serial : heard.waiting)
    if (schedule_.find(serial) != nullptr) give_verdict(schedule_.take(serial));
}

void Coordinator::give_verdict(JobProgress progress) {
  const std::uint64_t serial = progress.serial;
  JobProgress& kept = schedule_.run(std::move(progress));  // a running job keeps its task's plan
  if (!lints_.has_begun(kept.lint_key)) lint(kept);
  const std::vector<Finding>* findings = lints_.await(kept.lint_key, serial);
  if (findings == nullptr) return;
  JobProgress done = schedule_.take(serial);
  Verdict verdict = verdict_of(done, facts_.context());
  verdict.findings.insert(verdict.findings.end(), findings->begin(), findings->end());
  delivery_.give(std::move(done), std::move(verdict));
}

}  // namespace tritonsmith::gym::judge
