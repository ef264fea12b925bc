#include "gym/schedule/coordinator.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/hash.h"

namespace tritonsmith::gym {
namespace {

// The first time beside the others, since whoever killed it hardly means it. Whoever is killed
// again with nothing beside it has only itself to blame.
constexpr int kKillsForgiven = 2;

double milliseconds_since(TimePoint then) {
  return std::chrono::duration<double, std::milli>(system_clock().now() - then).count();
}

std::string task_key(const Task& task) { return content_key(task.source); }

Probe probe_of(const JudgeJob& job) {
  if (!job.self_test || !job.self_test->is_asked_again) return Probe::none;
  return job.self_test->is_right ? Probe::right : Probe::wrong;
}

}  // namespace

Coordinator::Coordinator(const LocalJudgeConfig& config, LocalJudgeParts parts, Outbox& outbox)
    : config_(config),
      parts_(std::move(parts)),
      outbox_(outbox),
      events_(std::numeric_limits<std::size_t>::max()) {
  for (int k = 0; k < config_.referees; ++k) start_referee(parts_.make_referee(), referee_work_, k);
  for (int gpu = 0; gpu < std::ssize(parts_.gpus); ++gpu)
    start_referee(parts_.make_replay_referee(gpu), replay_work_, gpu);
  thread_ = std::jthread([this] { run(); });
}

// A referee process dies with the thread that started it, hence one thread for each.
void Coordinator::start_referee(std::unique_ptr<RefereeClient> referee, RefereeQueue& queue,
                                int number) {
  referees_.push_back(std::move(referee));
  referee_threads_.emplace_back(
      [this, &queue, number, mine = referees_.back().get()](const std::stop_token& stop) {
        while (auto work = queue.pop(number)) {
          if (stop.stop_requested()) return;
          RefereeOutcome outcome = mine->judge(work->job, work->task_plan);
          events_.push(Refereed{*std::move(work), std::move(outcome)});
        }
      });
}

// The coordinator ends first, what it was told and has not looked at is forgotten, so that nothing
// new begins; the pool's last callbacks then fall into
// a closed queue. A referee at work is cut short: nobody waits for what it would say.
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

Judging* Coordinator::find(std::uint64_t serial) {
  const auto at = running_.find(serial);
  return at == running_.end() ? nullptr : &at->second;
}

void Coordinator::handle(Submitted& event) {
  Judging judging{.serial = next_serial_++, .job = std::move(event.job), .submitted = event.at};
  if (const auto known = learn_versions(); !known) {
    Verdict verdict = infrastructure_verdict(judging, known.error().message, context_);
    finish(std::move(judging), std::move(verdict));
    return;
  }
  judging.key = verdict_key(judging.job, judging.job.backend, versions_.of(judging.job.backend));
  if (judging.job.use_store && (answered_by_store(judging) || joined_an_equal_job(judging))) return;
  backlog_.push_back(std::move(judging));
}

Status Coordinator::learn_versions() {
  if (!versions_.evaluate.empty()) return ok();
  const auto patience = Deadline::after(std::chrono::seconds(120));
  Result<CapturePool::Versions> versions = fail("the judge was shut down");
  while (!versions && !stopping_) {  // in short waits: a judge may be destroyed before it is warm
    const auto a_moment = Deadline::after(std::chrono::milliseconds(100));
    versions = parts_.pool->versions(a_moment);
    if (!versions && (!a_moment.passed() || patience.passed())) break;
  }
  if (!versions) return tl::unexpected(versions.error());
  context_.environment.torch = versions->torch;
  context_.environment.triton = versions->triton;
  context_.environment.gpu = config_.target + " (compiled, not run)";
  context_.replay_environment = context_.environment;
  if (!parts_.gpus.empty()) {
    context_.replay_environment.gpu = parts_.gpus.front().name;
    context_.replay_environment.driver = parts_.gpus.front().driver;
  }
  const std::lock_guard lock(versions_mutex_);
  versions_.evaluate =
      fmt::format("torch {}, triton {}, {}", versions->torch, versions->triton, config_.target);
  if (parts_.gpus.empty()) return ok();
  versions_.replay = versions_.evaluate + ", " + context_.replay_environment.gpu;
  for (const std::string& baseline : config_.baselines) versions_.replay += ", " + baseline;
  return ok();
}

JudgeVersions Coordinator::versions() const {
  const std::lock_guard lock(versions_mutex_);
  return versions_;
}

bool Coordinator::answered_by_store(Judging& judging) {
  if (!parts_.store) return false;
  auto stored = parts_.store->find(judging.key);
  if (!stored) {
    outbox_.break_down(stored.error());
    return false;
  }
  if (!*stored) return false;
  Verdict verdict = std::move(**stored);
  verdict.task_id = judging.job.task.id;
  outbox_.deliver({judging.job.id, std::move(verdict)});
  return true;
}

bool Coordinator::joined_an_equal_job(const Judging& judging) {
  const auto join = [&](Judging& other) {
    if (!other.job.use_store || other.key != judging.key || other.cancelled) return false;
    other.followers.push_back(judging.job.id);
    return true;
  };
  for (auto& [serial, other] : running_)
    if (join(other)) return true;
  return std::ranges::any_of(backlog_, join) || std::ranges::any_of(alone_, join);
}

void Coordinator::handle(Cancelled& event) {
  const auto leave = [&](Judging& judging) {
    if (judging.job.id == event.id && !judging.cancelled) {
      judging.cancelled = true;
      outbox_.drop();
      return true;
    }
    if (std::erase(judging.followers, event.id) == 0) return false;
    outbox_.drop();
    return true;
  };
  const auto is_idle = [](const Judging& judging) {
    return judging.cancelled && judging.followers.empty();
  };
  for (std::deque<Judging>* waiting : {&backlog_, &alone_}) {
    std::ranges::any_of(*waiting, leave);
    std::erase_if(*waiting, is_idle);
  }
  for (auto at = running_.begin(); at != running_.end(); ++at) {
    if (!leave(at->second)) continue;
    // A compilation or a referee's run comes to its end by itself; a guest may be long.
    if (is_idle(at->second) && at->second.pool_id != 0) {
      parts_.pool->cancel(at->second.pool_id);
      running_.erase(at);
    }
    return;
  }
}

void Coordinator::admit() {
  if (!alone_.empty()) {
    if (!running_.empty()) return;
    Judging judging = std::move(alone_.front());
    alone_.pop_front();
    judging.alone = true;
    start(std::move(judging));
    return;
  }
  const bool somebody_is_alone =
      std::ranges::any_of(running_, [](const auto& entry) { return entry.second.alone; });
  while (!somebody_is_alone && !backlog_.empty() &&
         running_.size() < static_cast<std::size_t>(config_.in_flight)) {
    Judging judging = std::move(backlog_.front());
    backlog_.pop_front();
    start(std::move(judging));
  }
}

void Coordinator::start(Judging judging) {
  judging.queue_ms = milliseconds_since(judging.submitted);
  judging.inspection = parts_.inspect(judging.job.kernel, judging.job.policy);
  if (std::ranges::find(judging.inspection, Severity::reject, &Finding::severity) !=
      judging.inspection.end()) {
    Verdict verdict = verdict_of(judging, context_);
    finish(std::move(judging), std::move(verdict));
    return;
  }
  const std::uint64_t serial = judging.serial = next_serial_++;
  await_task(running_.emplace(serial, std::move(judging)).first->second);
}

void Coordinator::await_task(Judging& judging) {
  const std::string key = task_key(judging.job.task);
  if (!tasks_.contains(key)) forget_tasks();
  auto [at, is_new] = tasks_.try_emplace(key);
  at->second.last_used = judging.serial;
  if (at->second.ready) {
    capture(judging, at->second);
    return;
  }
  at->second.waiting.push_back(judging.serial);
  if (!is_new && at->second.waiting.size() > 1) return;
  parts_.pool->capture({.role = CaptureRole::task,
                        .source = judging.job.task.source,
                        .path = "task.py",
                        .target = config_.target},
                       [this, key](CaptureOutcome outcome) {
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
  const auto plan = parse_plan(json);
  const auto document = parse_json(json);
  if (!plan || !document) {
    task.failure = VerdictError{.error_class = "bad_plan",
                                .message = plan ? document.error().message : plan.error().message};
    return;
  }
  const auto member = [&](const char* name) {
    return document->contains(name) ? to_line((*document)[name]) : std::string("[]");
  };
  task.init_args = member("init_args");
  task.inputs = member("inputs");
  task.tensors = member("tensors");
  task.json = json;
}

void Coordinator::handle(TaskCaptured& event) {
  TaskPlan& task = tasks_[event.task_key];
  const std::vector<std::uint64_t> waiting = std::exchange(task.waiting, {});
  const auto* fault = std::get_if<InfrastructureFault>(&event.outcome.result);
  const auto* failure = std::get_if<CandidateFailure>(&event.outcome.result);
  if (failure != nullptr) task.failure = failure->error;
  if (const auto* plan = std::get_if<CapturedPlan>(&event.outcome.result))
    read_task_plan(plan->json, task);
  task.ready = fault == nullptr;
  const bool timed_out =
      task.failure && task.failure->error_class == "timeout" && !failure->undisturbed;
  const bool killed = task.failure && task.failure->error_class == "killed";
  for (const std::uint64_t serial : waiting) {
    Judging* judging = find(serial);
    if (judging == nullptr) continue;
    if (fault != nullptr || (timed_out && !judging->alone) ||
        (killed && judging->kills < kKillsForgiven)) {
      judging->capture = std::move(event.outcome);
      event.outcome = *judging->capture;
      conclude(serial);
    } else {
      capture(*judging, task);
    }
  }
  if (fault != nullptr || timed_out || killed) tasks_.erase(event.task_key);
}

void Coordinator::capture(Judging& judging, const TaskPlan& task) {
  if (task.failure) {
    Judging done = std::move(judging);
    running_.erase(done.serial);
    Verdict verdict = task_failure_verdict(done, *task.failure, context_);
    finish(std::move(done), std::move(verdict));
    return;
  }
  lint(judging);
  const std::uint64_t serial = judging.serial;
  const bool on_gpu = judging.job.backend == Backend::replay && !parts_.gpus.empty();
  judging.pool_id =
      parts_.pool->capture({.role = CaptureRole::candidate,
                            .source = judging.job.kernel,
                            .init_args_json = task.init_args,
                            .inputs_json = task.inputs,
                            .tensors_json = task.tensors,
                            .target = config_.target,
                            .device_json = on_gpu ? parts_.gpus.front().properties : ""},
                           [this, serial](CaptureOutcome outcome) {
                             events_.push(Captured{serial, std::move(outcome)});
                           });
}

void Coordinator::handle(Captured& event) {
  Judging* judging = find(event.serial);
  if (judging == nullptr) return;
  judging->pool_id = 0;
  judging->capture = std::move(event.outcome);
  auto* captured = std::get_if<CapturedPlan>(&judging->capture->result);
  if (captured == nullptr) {
    conclude(event.serial);
    return;
  }
  auto plan = parse_plan(captured->json);
  if (!plan || plan->role != PlanRole::candidate) {
    judging->plan_json =
        plan ? "the guest handed over a plan of another kind" : plan.error().message;
    conclude(event.serial);
    return;
  }
  judging->plan_json = std::move(captured->json);
  judging->plan = *std::move(plan);
  compile_and_referee(*judging);
}

RefereeJob Coordinator::referee_job(const Judging& judging) const {
  return {.task_key = task_key(judging.job.task),
          .task_source = judging.job.task.source,
          .baselines = judging.job.baselines,
          .probe = probe_of(judging.job),
          .candidate_plan = judging.plan_json,
          // Follows from the job's content: judged again, it is judged alike, and other jobs draw
          // other values.
          .secret = to_hex(hmac_sha256(parts_.secret, judging.key)),
          .trials = judging.job.trials,
          .policy = judging.job.policy,
          .comparison = judging.job.comparison,
          .tolerance = judging.job.task.tolerance,
          .budget = {.seconds = config_.referee_seconds,
                     .memory_bytes = std::int64_t{config_.referee_memory_mib} << 20}};
}

void Coordinator::compile_and_referee(Judging& judging) {
  const std::uint64_t serial = judging.serial;
  judging.units = compile_units(*judging.plan);
  const bool on_gpu = judging.job.backend == Backend::replay;
  judging.pending = judging.units.size() + (on_gpu ? 0 : 1);
  for (std::size_t unit = 0; unit < judging.units.size(); ++unit)
    parts_.pool->compile(judging.units[unit].request, [this, serial, unit](CompileOutcome outcome) {
      events_.push(Compiled{serial, unit, std::move(outcome)});
    });
  if (!on_gpu)
    hand_to_referee(judging, referee_job(judging), referee_work_);
  else if (judging.pending == 0)
    replay(judging);
}

bool Coordinator::replay(Judging& judging) {
  if (judging.job.backend != Backend::replay || judging.referee) return false;
  auto kernels = binaries_of(judging);
  if (!kernels) return false;
  RefereeJob job = referee_job(judging);
  job.kernels = std::move(*kernels);
  judging.pending = 1;
  hand_to_referee(judging, std::move(job), replay_work_);
  return true;
}

void Coordinator::hand_to_referee(const Judging& judging, RefereeJob job, RefereeQueue& queue) {
  const auto& test = judging.job.self_test;
  queue.push({.serial = judging.serial,
              .job = std::move(job),
              .task_plan = tasks_.at(task_key(judging.job.task)).json,
              .only = test ? std::optional(test->referee) : std::nullopt});
}

void Coordinator::handle(Compiled& event) {
  Judging* judging = find(event.serial);
  if (judging == nullptr) return;
  if (auto* kernel = std::get_if<CompiledKernel>(&event.outcome.result);
      kernel != nullptr && judging->job.backend != Backend::replay)
    kernel->cubin.clear();  // not run here
  judging->units.at(event.unit).outcome = std::move(event.outcome);
  advance(event.serial);
}

void Coordinator::handle(Refereed& event) {
  if (const auto* failure = std::get_if<RefereeFailure>(&event.outcome);
      failure != nullptr && failure->kind == RefereeFailure::Kind::misjudges) {
    outbox_.break_down({failure->message});
    return;
  }
  if (!event.work.lint_key.empty()) return hear_of_task(event);
  Judging* judging = find(event.work.serial);
  if (judging == nullptr) return;
  judging->referee = std::move(event.outcome);
  advance(event.work.serial);
}

void Coordinator::advance(std::uint64_t serial) {
  Judging& judging = running_.at(serial);
  if (--judging.pending > 0) return;
  if (judging.passed_over.empty()) pass_over_configs(judging);
  if (!replay(judging)) conclude(serial);
}

void Coordinator::conclude(std::uint64_t serial) {
  Judging judging = std::move(running_.at(serial));
  running_.erase(serial);
  const Ending ending = ending_of(judging);
  if (ending == Ending::infrastructure) {
    constexpr int retries = 1;
    if (++judging.infrastructure_faults > retries) {
      Verdict verdict = infrastructure_verdict(judging, infrastructure_message(judging), context_);
      finish(std::move(judging), std::move(verdict));
      return;
    }
    start_over(judging);
    backlog_.push_front(std::move(judging));
  } else if (ending == Ending::killed && ++judging.kills < kKillsForgiven) {
    start_over(judging);
    backlog_.push_front(std::move(judging));
  } else if ((ending == Ending::deadline && !judging.alone) ||
             (ending == Ending::killed && judging.kills == kKillsForgiven)) {
    start_over(judging);
    alone_.push_back(std::move(judging));
  } else {
    give_verdict(std::move(judging));
  }
}

// Stored before it is used, so that a resumed run finds what it acted on.
void Coordinator::finish(Judging judging, Verdict verdict) {
  verdict.stage_ms.emplace_back("total", milliseconds_since(judging.submitted));
  if (parts_.store && judging.job.use_store && verdict.fault != Fault::infrastructure) {
    if (const auto stored = parts_.store->put(judging.key, verdict); !stored) {
      outbox_.break_down(stored.error());
      return;
    }
  }
  for (const std::uint64_t follower : judging.followers) {
    Verdict copy = verdict;
    copy.from_store = true;
    outbox_.deliver({follower, std::move(copy)});
  }
  if (!judging.cancelled) outbox_.deliver({judging.job.id, std::move(verdict)});
}

}  // namespace tritonsmith::gym
