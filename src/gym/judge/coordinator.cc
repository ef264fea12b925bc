#include "gym/judge/coordinator.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/clock.h"
#include "base/hash.h"

namespace tritonsmith::gym::judge {
namespace {

// A killed guest is retried. The first retry runs beside the other jobs, since the killer
// probably meant another process. The second retry runs alone. A guest that is killed alone has
// caused it itself.
constexpr int kKillsForgiven = 2;

std::string task_key(const Task& task) { return content_key(task.source); }

referee::Probe probe_of(const api::JudgeJob& job) {
  if (!job.self_test || !job.self_test->is_asked_again) return referee::Probe::none;
  return job.self_test->is_right ? referee::Probe::right : referee::Probe::wrong;
}

}  // namespace

Coordinator::Coordinator(const LocalJudgeConfig& config, LocalJudgeParts parts, api::Outbox& outbox)
    : config_(config),
      parts_(std::move(parts)),
      outbox_(outbox),
      events_(std::numeric_limits<std::size_t>::max()) {
  start_referees();
  thread_ = std::jthread([this] { run(); });
}

// The coordinator's thread ends first. Events that it has not handled are dropped, so that no new
// work begins, and the pool's last callbacks push to a closed queue. A referee at work is
// interrupted, because nobody waits for its report.
Coordinator::~Coordinator() {
  stopping_ = true;
  events_.close();
  thread_.join();
  for (std::jthread& thread : referee_threads_) thread.request_stop();
  referee_work_.close();
  replay_work_.close();
  for (const auto& referee : referees_) referee->interrupt();
  parts_.pool.reset();
  for (std::jthread& thread : referee_threads_) thread.join();
}

void Coordinator::run() {
  while (auto event = events_.pop()) {
    if (stopping_) return;
    std::visit([this](auto& what) { handle(what); }, *event);
    admit();
  }
}

JobProgress* Coordinator::find(std::uint64_t serial) {
  const auto at = running_.find(serial);
  return at == running_.end() ? nullptr : &at->second;
}

void Coordinator::handle(Submitted& event) {
  JobProgress progress{
      .serial = next_serial_++, .job = std::move(event.job), .submitted = event.at};
  // The key of a verdict holds the text of its task, which says nothing of the data that it reads.
  // A store has no verdicts on edited PTX, and none that hold PTX.
  if (!config_.capture.data.empty() || !progress.job.ptx.empty() || progress.job.shows_ptx)
    progress.job.use_store = false;
  if (const auto known = learn_versions(); !known) {
    Verdict verdict = infrastructure_verdict(progress, known.error().message, context_);
    finish(std::move(progress), std::move(verdict));
    return;
  }
  progress.key =
      verdict_key(progress.job, progress.job.backend, versions_.of(progress.job.backend));
  if (progress.job.use_store && (answered_by_store(progress) || joined_an_equal_job(progress)))
    return;
  backlog_.push_back(std::move(progress));
}

Status Coordinator::learn_versions() {
  if (!versions_.evaluate.empty()) return ok();
  const auto patience = Deadline::after(std::chrono::seconds(120));
  Result<capture::CapturePool::Versions> versions = fail("the judge was shut down");
  // short waits, since a judge may be destroyed before the zygote is warm
  while (!versions && !stopping_) {
    const auto a_moment = Deadline::after(std::chrono::milliseconds(100));
    versions = parts_.pool->versions(a_moment);
    if (!versions && (!a_moment.passed() || patience.passed())) break;
  }
  if (!versions) return tl::unexpected(versions.error());
  context_.environment.torch = versions->torch;
  context_.environment.triton = versions->triton;
  context_.environment.target = config_.target;
  context_.environment.gpu = config_.target + " (compiled, not run)";
  context_.replay_environment = context_.environment;
  context_.ceilings = parts_.ceilings;
  if (!parts_.gpus.empty()) {
    context_.replay_environment.gpu = parts_.gpus.front().name;
    context_.replay_environment.driver = parts_.gpus.front().driver;
  }
  const std::lock_guard lock(versions_mutex_);
  versions_.evaluate =
      fmt::format("torch {}, triton {}, {}", versions->torch, versions->triton, config_.target);
  if (config_.adequacy_secrets > 0)
    versions_.evaluate += fmt::format(", adequacy under {} secrets", config_.adequacy_secrets);
  if (parts_.gpus.empty()) return ok();
  versions_.replay = versions_.evaluate + ", " + context_.replay_environment.gpu;
  for (const std::string& baseline : config_.baselines) versions_.replay += ", " + baseline;
  if (parts_.ceilings) versions_.replay += ", speed of light";  // earlier verdicts lack it
  return ok();
}

bool Coordinator::answered_by_store(JobProgress& progress) {
  if (!parts_.store) return false;
  auto stored = parts_.store->find(progress.key);
  if (!stored) {
    outbox_.break_down(stored.error());
    return false;
  }
  if (!*stored) return false;
  Verdict verdict = std::move(**stored);
  verdict.task_id = progress.job.task.id;
  outbox_.deliver({progress.job.id, std::move(verdict)});
  return true;
}

bool Coordinator::joined_an_equal_job(const JobProgress& progress) {
  const auto join = [&](JobProgress& other) {
    if (!other.job.use_store || other.key != progress.key || other.cancelled) return false;
    other.followers.push_back(progress.job.id);
    return true;
  };
  for (auto& [serial, other] : running_)
    if (join(other)) return true;
  return std::ranges::any_of(backlog_, join) || std::ranges::any_of(alone_, join);
}

void Coordinator::handle(Cancelled& event) {
  const auto leave = [&](JobProgress& progress) {
    if (progress.job.id == event.id && !progress.cancelled) {
      progress.cancelled = true;
      outbox_.drop();
      return true;
    }
    if (std::erase(progress.followers, event.id) == 0) return false;
    outbox_.drop();
    return true;
  };
  const auto is_idle = [](const JobProgress& progress) {
    return progress.cancelled && progress.followers.empty();
  };
  for (std::deque<JobProgress>* waiting : {&backlog_, &alone_}) {
    std::ranges::any_of(*waiting, leave);
    std::erase_if(*waiting, is_idle);
  }
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    if (!leave(at->second)) continue;
    JobProgress& progress = at->second;
    const bool compiles = std::ranges::any_of(
        progress.units, [](const CompileUnit& unit) { return !unit.outcome && !unit.is_dropped; });
    // A referee's run ends by itself soon. A guest or many compilations may take long.
    if (is_idle(progress) && (progress.pool_id != 0 || compiles)) {
      if (progress.pool_id != 0) parts_.pool->cancel(progress.pool_id);
      stop_compiling(progress, 0);
      running_.erase(at);
    }
    return;
  }
}

void Coordinator::admit() {
  if (!alone_.empty()) {
    if (!running_.empty()) return;
    JobProgress progress = std::move(alone_.front());
    alone_.pop_front();
    progress.alone = true;
    start(std::move(progress));
    return;
  }
  const bool somebody_is_alone =
      std::ranges::any_of(running_, [](const auto& entry) { return entry.second.alone; });
  while (!somebody_is_alone && !backlog_.empty() &&
         running_.size() < static_cast<std::size_t>(config_.in_flight)) {
    JobProgress progress = std::move(backlog_.front());
    backlog_.pop_front();
    start(std::move(progress));
  }
}

void Coordinator::start(JobProgress progress) {
  progress.queue_ms = milliseconds_since(progress.submitted);
  progress.inspection = parts_.inspect(progress.job.kernel, progress.job.policy);
  if (std::ranges::find(progress.inspection, Severity::reject, &Finding::severity) !=
      progress.inspection.end()) {
    Verdict verdict = verdict_of(progress, context_);
    finish(std::move(progress), std::move(verdict));
    return;
  }
  const std::uint64_t serial = progress.serial = next_serial_++;
  await_task(running_.emplace(serial, std::move(progress)).first->second);
}

void Coordinator::await_task(JobProgress& progress) {
  const std::string key = task_key(progress.job.task);
  if (!tasks_.contains(key)) forget_tasks();
  auto [at, is_new] = tasks_.try_emplace(key);
  at->second.last_used = progress.serial;
  if (at->second.ready) {
    capture(progress, at->second);
    return;
  }
  at->second.waiting.push_back(progress.serial);
  if (!is_new && at->second.waiting.size() > 1) return;
  parts_.pool->capture({.role = capture::CaptureRole::task,
                        .source = progress.job.task.source,
                        .path = "task.py",
                        .target = config_.target},
                       [this, key](capture::CaptureOutcome outcome) {
                         events_.push(TaskCaptured{key, std::move(outcome)});
                       });
}

void Coordinator::forget_tasks() {
  const auto limit = static_cast<std::size_t>(config_.task_plans);
  const auto most = static_cast<std::size_t>(config_.task_plans_mib) << 20;
  std::size_t bytes = 0;
  for (const auto& [key, task] : tasks_) bytes += task.bytes();
  if (tasks_.size() < limit && bytes <= most) return;
  std::set<std::string> running_keys;
  for (const auto& [serial, judging] : running_) running_keys.insert(task_key(judging.job.task));
  const auto in_use = [&](const auto& entry) {
    return !entry.second.ready || running_keys.contains(entry.first);
  };
  while (tasks_.size() >= limit || bytes > most) {
    auto oldest = tasks_.end();
    for (auto at = tasks_.begin(); at != tasks_.end(); ++at)
      if (!in_use(*at) &&
          (oldest == tasks_.end() || at->second.last_used < oldest->second.last_used))
        oldest = at;
    if (oldest == tasks_.end()) return;
    bytes -= oldest->second.bytes();
    tasks_.erase(oldest);
  }
}

void Coordinator::read_task_plan(const std::string& json, TaskPlan& task) {
  const auto plan = plan::parse_plan(json);
  const auto document = parse_json(json);
  if (!plan || !document) {
    task.failure = VerdictError{.error_class = ErrorClass::bad_plan,
                                .message = plan ? document.error().message : plan.error().message};
    return;
  }
  const auto member = [&](const char* name) {
    return document->contains(name) ? to_line((*document)[name]) : std::string("[]");
  };
  task.init_args = member("init_args");
  task.inputs = member("inputs");
  task.tensors = member("tensors");
  task.known = member("known");
  task.json = json;
}

void Coordinator::handle(TaskCaptured& event) {
  TaskPlan& task = tasks_[event.task_key];
  const std::vector<std::uint64_t> waiting = std::exchange(task.waiting, {});
  const auto* fault = std::get_if<sandbox::InfrastructureFault>(&event.outcome.result);
  const auto* failure = std::get_if<sandbox::CandidateFailure>(&event.outcome.result);
  if (failure != nullptr) task.failure = failure->error;
  if (const auto* plan = std::get_if<capture::CapturedPlan>(&event.outcome.result))
    read_task_plan(plan->json, task);
  task.ready = fault == nullptr;
  const bool timed_out =
      task.failure && task.failure->error_class == ErrorClass::timeout && !failure->undisturbed;
  const bool killed = task.failure && task.failure->error_class == ErrorClass::killed;
  for (const std::uint64_t serial : waiting) {
    JobProgress* progress = find(serial);
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
  if (fault != nullptr || timed_out || killed) tasks_.erase(event.task_key);
}

void Coordinator::capture(JobProgress& progress, const TaskPlan& task) {
  if (task.failure) {
    JobProgress done = std::move(progress);
    running_.erase(done.serial);
    Verdict verdict = task_failure_verdict(done, *task.failure, context_);
    finish(std::move(done), std::move(verdict));
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
                            .target = config_.target,
                            .device_json = on_gpu ? parts_.gpus.front().properties : ""},
                           [this, serial](capture::CaptureOutcome outcome) {
                             events_.push(Captured{serial, std::move(outcome)});
                           });
}

void Coordinator::handle(Captured& event) {
  JobProgress* progress = find(event.serial);
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

referee::RefereeJob Coordinator::referee_job(const JobProgress& progress) const {
  return {.task_key = task_key(progress.job.task),
          .task_source = progress.job.task.source,
          .baselines = progress.job.baselines,
          .probe = probe_of(progress.job),
          .candidate_plan = progress.plan_json,
          // The secret follows from the job's content. A job that is judged again is judged alike,
          // and other jobs draw other values.
          .secret = to_hex(hmac_sha256(parts_.secret, progress.key)),
          .trials = progress.job.trials,
          .policy = progress.job.policy,
          .comparison = progress.job.comparison,
          .strides = progress.job.strides,
          .tolerance = progress.job.task.tolerance,
          .budget = {.seconds = config_.referee_seconds,
                     .memory_bytes = std::int64_t{config_.referee_memory_mib} << 20}};
}

void Coordinator::compile_and_referee(JobProgress& progress) {
  const std::uint64_t serial = progress.serial;
  progress.units = compile_units(*progress.plan);
  if (const Status put = put_ptx(progress.job.ptx, progress.units); !put) {
    progress.plan_error = put.error().message;
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
    hand_to_referee(progress, referee_job(progress), referee_work_);
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
  referee::RefereeJob job = referee_job(progress);
  job.kernels = std::move(*kernels);
  progress.pending = 1;
  hand_to_referee(progress, std::move(job), replay_work_);
  return true;
}

void Coordinator::hand_to_referee(const JobProgress& progress, referee::RefereeJob job,
                                  RefereeQueue& queue) {
  const auto& test = progress.job.self_test;
  queue.push({.serial = progress.serial,
              .job = std::move(job),
              .task_plan = tasks_.at(task_key(progress.job.task)).json,
              .only = test ? std::optional(test->referee) : std::nullopt});
}

void Coordinator::handle(Compiled& event) {
  JobProgress* progress = find(event.serial);
  if (progress == nullptr || progress->units.at(event.unit).is_dropped) return;
  if (auto* kernel = std::get_if<compile::CompiledKernel>(&event.outcome.result)) {
    if (progress->job.backend != Backend::replay)
      kernel->cubin.clear();  // the evaluator does not need it
  }
  progress->units.at(event.unit).outcome = std::move(event.outcome);
  if (const auto failed = deciding_failure(*progress)) stop_compiling(*progress, *failed + 1);
  advance(event.serial);
}

void Coordinator::handle(Refereed& event) {
  if (const auto* failure = std::get_if<RefereeFailure>(&event.outcome);
      failure != nullptr && failure->kind == RefereeFailure::Kind::misjudges) {
    outbox_.break_down({failure->message});
    return;
  }
  if (!event.work.lint_key.empty()) return hear_of_task(event);
  JobProgress* progress = find(event.work.serial);
  if (progress == nullptr) return;
  progress->referee = std::move(event.outcome);
  progress->gpu = std::move(event.gpu);
  advance(event.work.serial);
}

void Coordinator::advance(std::uint64_t serial) {
  JobProgress& progress = running_.at(serial);
  if (--progress.pending > 0) return;
  if (progress.passed_over.empty()) pass_over_configs(progress);
  if (!replay(progress)) conclude(serial);
}

void Coordinator::conclude(std::uint64_t serial) {
  JobProgress progress = std::move(running_.at(serial));
  running_.erase(serial);
  const Ending ending = ending_of(progress);
  if (ending == Ending::infrastructure) {
    constexpr int retries = 1;
    if (++progress.infrastructure_faults > retries) {
      Verdict verdict =
          infrastructure_verdict(progress, infrastructure_message(progress), context_);
      finish(std::move(progress), std::move(verdict));
      return;
    }
    start_over(progress);
    backlog_.push_front(std::move(progress));
  } else if (ending == Ending::killed && ++progress.kills < kKillsForgiven) {
    start_over(progress);
    backlog_.push_front(std::move(progress));
  } else if ((ending == Ending::deadline && !progress.alone) ||
             (ending == Ending::killed && progress.kills == kKillsForgiven)) {
    start_over(progress);
    alone_.push_back(std::move(progress));
  } else {
    give_verdict(std::move(progress));
  }
}

// Stores the verdict before anybody uses it, so that a resumed run finds the verdicts on
// which it acted.
void Coordinator::finish(JobProgress progress, Verdict verdict) {
  verdict.stage_ms.emplace_back("total", milliseconds_since(progress.submitted));
  if (parts_.store && progress.job.use_store && verdict.fault != Fault::infrastructure) {
    if (const auto stored = parts_.store->put(progress.key, verdict, progress.gpu); !stored) {
      outbox_.break_down(stored.error());
      return;
    }
  }
  for (const std::uint64_t follower : progress.followers) {
    Verdict copy = verdict;
    copy.from_store = true;
    outbox_.deliver({.id = follower, .verdict = std::move(copy), .gpu = progress.gpu});
  }
  if (!progress.cancelled)
    outbox_.deliver({.id = progress.job.id, .verdict = std::move(verdict), .gpu = progress.gpu});
}

}  // namespace tritonsmith::gym::judge
