#include "gym/compile/compiler_pool.h"

#include <algorithm>
#include <csignal>

#include "base/cores.h"
#include "gym/compile/patience.h"
#include "gym/language/registry/languages.h"

namespace tritonsmith::gym::compile {
namespace {

constexpr std::size_t kMaxCodeBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxReplyBytes = std::size_t{64} << 20;
constexpr std::uint64_t kWorkerTmpBytes = std::uint64_t{1} << 30;
constexpr auto kGreetTime = std::chrono::seconds(30);
constexpr int kMaxAttempts = 2;

std::string request_text(const CompileRequest& request) {
  Json json = {{std::string(name_of(request.language)), request.code},
               {"num_warps", request.num_warps},
               {"num_stages", request.num_stages},
               {"num_ctas", request.num_ctas},
               {"target", request.target}};
  if (request.maxnreg > 0) json["maxnreg"] = request.maxnreg;
  if (!request.enable_fp_fusion) json["enable_fp_fusion"] = false;
  if (!request.ptx.empty()) json["ptx"] = request.ptx;
  if (request.wants_ptx) json["wants_ptx"] = true;
  return to_line(json);
}

sandbox::CandidateFailure refused(ErrorClass error_class, std::string message) {
  return {.stage = Stage::captured,
          .error = {.error_class = error_class, .message = std::move(message)}};
}

sandbox::CandidateFailure refused_ptx(const Error& error) {
  return refused(ErrorClass::refused_ir, "the edited PTX is refused: " + error.message);
}

// Returns the kernel of a worker's reply. Edited PTX must stand in the frame of the compiler's own.
CompileCache::Entry entry_of(const Json& reply, const CompileRequest& request) {
  auto kernel = compiled_kernel_from_json(reply);
  if (!kernel)
    return refused(ErrorClass::compile_error,
                   "the compiler's answer is no kernel: " + kernel.error().message);
  if (!request.ptx.empty())
    if (const Status edit =
            language::language_of(request.language).check_edit(kernel->ptx, request.ptx);
        !edit)
      return refused_ptx(edit.error());
  return *std::move(kernel);
}

}  // namespace

CompilerPool::CompilerPool(const CompilerLimits& limits)
    : limits_{.output_bytes = std::size_t{16} << 20,
              .frame_bytes = kMaxReplyBytes,
              .wall = std::chrono::seconds(limits.seconds)},
      tmp_bytes_(kWorkerTmpBytes),
      compiles_per_worker_(limits.compiles_per_worker),
      cache_(static_cast<std::size_t>(limits.cache_mib) << 20,
             KernelFolder(limits.cache_directory, static_cast<std::uint64_t>(limits.cache_disk_mib)
                                                      << 20)),
      queue_(limits.budget_seconds) {}

Result<CompilerPool> CompilerPool::make(const CompilerLimits& limits) {
  CompilerPool pool(limits);
  for (int i = 0; i < limits.workers; ++i) {
    TRY_ASSIGN(sandbox::SlotUid uid, sandbox::SlotUid::take());
    pool.workers_.push_back(Worker{.uid = std::move(uid)});
  }
  return pool;
}

void CompilerPool::submit(CompileJob job) {
  const auto refuse = [&](ErrorClass error_class, std::string message) {
    give(job, {.result = refused(error_class, std::move(message))});
  };
  const language::Language& language = language::language_of(job.request.language);
  job.line = language.first_line(job.request.code);
  if (job.request.code.size() > kMaxCodeBytes)
    return refuse(ErrorClass::compile_error,
                  fmt::format("the kernel's IR is larger than {} bytes", kMaxCodeBytes));
  auto bare = language.without_locations(job.request.code);
  if (!bare) return refuse(ErrorClass::refused_ir, bare.error().message);
  job.request.code = *std::move(bare);
  if (!job.request.ptx.empty())
    if (const Status allowed = language.check_assembly(job.request.ptx); !allowed)
      return give(job, {.result = refused_ptx(allowed.error())});
  unsorted_.push_back(std::move(job));
}

bool CompilerPool::cancel(std::uint64_t id) {
  const auto is_it = [&](const CompileJob& job) { return job.id == id; };
  if (std::erase_if(unsorted_, is_it) > 0) return true;
  if (queue_.cancel(id)) return true;
  for (Worker& worker : workers_)
    if (worker.work && std::erase_if(worker.work->jobs, is_it) > 0) return true;
  return false;
}

// Gives each new job the cache's answer, adds it to equal work at a worker, or queues it.
void CompilerPool::sort_in(std::string_view compiler_version) {
  for (; !unsorted_.empty(); unsorted_.pop_front()) {
    CompileJob job = std::move(unsorted_.front());
    std::string key = compile_key(job.request, compiler_version);
    const double queued_ms = milliseconds_since(job.submitted);
    if (const auto found = cache_.find(key)) {
      CompileOutcome outcome{.stage_ms = {{"queue", queued_ms}}, .from_cache = true};
      std::visit([&](const auto& entry) { outcome.result = entry; }, *found);
      give(job, std::move(outcome));
      continue;
    }
    const auto same = std::ranges::find_if(
        workers_, [&](const Worker& worker) { return worker.work && worker.work->key == key; });
    if (same != workers_.end())
      same->work->jobs.push_back(std::move(job));
    else
      queue_.add(std::move(key), std::move(job));
  }
}

Status CompilerPool::advance(sandbox::Zygote& zygote, std::string_view compiler_version) {
  for (Worker& worker : workers_) {
    if (worker.guest) TRY(hear(worker, zygote));
    if (worker.phase == Phase::over && worker.guest->status()) {
      worker.guest.reset();
      worker.phase = Phase::none;
    }
    if (worker.phase == Phase::over && worker.reaped_by.passed())
      return fail("the zygote did not reap a killed compile worker");
  }
  sort_in(compiler_version);
  for (Worker& worker : workers_) {
    if (queue_.empty()) break;
    if (worker.phase == Phase::none) TRY(start_worker(worker, zygote));
    if (worker.phase == Phase::ready) take_work(worker);
  }
  return ok();
}

Status CompilerPool::start_worker(Worker& worker, sandbox::Zygote& zygote) {
  sandbox::GuestLimits limits = limits_;
  limits.wall = kGreetTime;
  TRY_ASSIGN(
      worker.guest,
      sandbox::Guest::fork(
          zygote, {.role = "compile", .uid = worker.uid.value(), .tmp_bytes = tmp_bytes_}, limits));
  worker.phase = Phase::greeting;
  worker.served = 0;
  return ok();
}

Status CompilerPool::hear(Worker& worker, sandbox::Zygote& zygote) {
  worker.guest->exchange();
  while (worker.phase != Phase::over) {
    const auto frame = worker.guest->next_frame();
    if (!frame) break;
    if (worker.phase == Phase::greeting) {
      TRY(greet(worker, zygote, *frame));
    } else if (worker.phase == Phase::busy) {
      take_reply(worker, *frame);
      if (worker.served >= compiles_per_worker_) retire(worker, zygote);
    } else {
      retire(worker, zygote);  // a worker must not speak without a request
    }
  }
  const sandbox::GuestEnd end = worker.guest->end();
  if (worker.phase == Phase::over || end == sandbox::GuestEnd::running) return ok();
  if (end == sandbox::GuestEnd::timed_out && prolong(worker)) return ok();
  if (worker.phase == Phase::greeting)
    return fail("a compile worker {} before its jail was closed: {}",
                sandbox::error_of_end(end, worker.guest->status(), limits_).message,
                worker.guest->output());
  if (worker.work) worker_failed(worker, end);
  retire(worker, zygote);
  return ok();
}

// Extends the time limit of a kernel while other programs hold the cores. Returns whether it did.
bool CompilerPool::prolong(Worker& worker) {
  if (!worker.work) return false;
  const auto limit = limit_under_load(limits_.wall, load_of_machine(), usable_cores());
  const auto left = limit - (system_clock().now() - worker.work->started);
  if (left <= std::chrono::seconds(1)) return false;
  worker.guest->set_time_limit(left);
  return true;
}

// A worker that could not enter its jail could not do so under another zygote either. So all
// waiting jobs fail with the reason.
Status CompilerPool::greet(Worker& worker, sandbox::Zygote& zygote, std::string_view frame) {
  TRY_ASSIGN(const Json hello, parse_json(frame));
  JsonReader reader(hello);
  const std::string refused = reader.string("refused", "");
  if (!refused.empty()) {
    retire(worker, zygote);
    fail_waiting(sandbox::jail_refused(refused));
    return ok();
  }
  worker.phase = Phase::ready;
  worker.guest->set_time_limit(std::chrono::hours(24 * 365));
  return ok();
}

void CompilerPool::take_work(Worker& worker) {
  worker.work = queue_.take();
  worker.work->queued_ms = milliseconds_since(worker.work->jobs.front().submitted);
  worker.work->started = system_clock().now();
  worker.guest->set_time_limit(limits_.wall);
  worker.guest->send(request_text(worker.work->jobs.front().request));
  worker.phase = Phase::busy;
}

void CompilerPool::take_reply(Worker& worker, const std::string& frame) {
  QueuedKernel work = std::move(*worker.work);
  worker.work.reset();
  worker.phase = Phase::ready;
  worker.guest->set_time_limit(std::chrono::hours(24 * 365));
  ++worker.served;
  const auto json = parse_json(frame);
  const Json reply = json && json->is_object() ? *json : Json::object();
  const double compile_ms = JsonReader(reply).number("compile_ms", 0);
  charge(work, JsonReader(reply).number("cpu_ms", 0));
  if (reply.contains("error")) {
    sandbox::CandidateFailure failure = sandbox::failure_from_guest(reply, Stage::captured);
    failure.stage = Stage::captured;
    give_results(std::move(work), failure, compile_ms);
    return;
  }
  if (work.jobs.empty()) return;  // all of them were cancelled
  const CompileCache::Entry entry = entry_of(reply, work.jobs.front().request);
  give_results(std::move(work), entry, compile_ms);
}

// CPU time does not grow when the machine is busy. But a worker tells its own, and a kernel may
// have taken it over, so the wall clock bounds what counts.
void CompilerPool::charge(const QueuedKernel& work, double cpu_ms) {
  constexpr double least_share = 0.25;
  const double wall_ms = milliseconds_since(work.started);
  queue_.charge(work, std::clamp(cpu_ms, least_share * wall_ms, wall_ms) / 1e3);
  for (CompileJob& job : queue_.take_unaffordable()) {
    sandbox::CandidateFailure failure = refused(
        ErrorClass::compile_timeout,
        fmt::format("the candidate's kernels together took more than the {} s that the compiler "
                    "gives to one job; write fewer autotune configs or unroll less (a service's "
                    "limit is `judge.capture.compile_budget_seconds`)",
                    queue_.budget_seconds()));
    failure.undisturbed = true;  // another attempt costs as much
    give(job, {.result = std::move(failure)});
  }
}

// A kernel that takes too long gets no second worker, because the judge repeats its job alone.
void CompilerPool::worker_failed(Worker& worker, sandbox::GuestEnd end) {
  QueuedKernel work = std::move(*worker.work);
  worker.work.reset();
  charge(work, milliseconds_since(work.started));
  if (work.jobs.empty()) return;
  if (++work.attempts < kMaxAttempts && end != sandbox::GuestEnd::timed_out) {
    queue_.put_back(std::move(work));
    return;
  }
  const auto status = worker.guest->status();
  const bool killed = status == ExitStatus{ExitStatus::Kind::signalled, SIGKILL} ||
                      status == ExitStatus{ExitStatus::Kind::exited, kProgramKilled};
  sandbox::CandidateFailure failure{
      .stage = Stage::captured,
      .error = sandbox::error_of_end(end, worker.guest->status(), limits_)};
  if (killed) {
    // Perhaps this kernel needs all of the machine's memory, perhaps another process does. The judge
    // repeats the job, the last time alone, and so finds out.
    failure.error = {.error_class = ErrorClass::killed,
                     .message =
                         "the compiler was killed twice at this kernel, probably because the "
                         "machine ran out of memory"};
    for (CompileJob& job : work.jobs) give(job, {.result = failure});
    return;
  }
  const bool slow = failure.error.error_class == ErrorClass::timeout;
  failure.error.message = "the compiler " + failure.error.message;
  failure.error.error_class = slow ? ErrorClass::compile_timeout : ErrorClass::compile_crash;
  for (CompileJob& job : work.jobs)
    give(job,
         {.result = failure,
          .stage_ms = {{"queue", work.queued_ms}, {"compile", milliseconds_since(job.submitted)}}});
}

void CompilerPool::retire(Worker& worker, sandbox::Zygote& zygote) {
  if (!worker.guest->status()) zygote.kill(worker.guest->id());
  worker.reaped_by = Deadline::after(sandbox::kReapTime);
  worker.phase = Phase::over;
}

void CompilerPool::give_results(QueuedKernel work, const CompileCache::Entry& entry,
                                double compile_ms) {
  cache_.add(work.key, entry);
  bool is_first = true;
  for (CompileJob& job : work.jobs) {
    CompileOutcome outcome{.stage_ms = {{"queue", work.queued_ms}, {"compile", compile_ms}},
                           .from_cache = !is_first};
    std::visit([&](const auto& result) { outcome.result = result; }, entry);
    give(job, std::move(outcome));
    is_first = false;
  }
}

// A failure gets the line where the job's kernel begins, because passes do not tell theirs.
void CompilerPool::give(CompileJob& job, CompileOutcome outcome) {
  if (auto* failure = std::get_if<sandbox::CandidateFailure>(&outcome.result))
    failure->error.line = job.line;
  std::exchange(job.done, nullptr)(std::move(outcome));
}

bool CompilerPool::exited(const sandbox::GuestExited& exited) {
  for (Worker& worker : workers_) {
    if (!worker.guest || worker.guest->id() != exited.id) continue;
    worker.guest->exited(exited);
    return true;
  }
  return false;
}

void CompilerPool::lost_all(const Error& why) {
  for (Worker& worker : workers_) {
    if (worker.work) {
      QueuedKernel work = std::move(*worker.work);
      worker.work.reset();
      if (++work.attempts < kMaxAttempts) {
        queue_.put_back(std::move(work));
      } else {
        for (CompileJob& job : work.jobs)
          give(job, {.result = sandbox::InfrastructureFault{why.message}});
      }
    }
    worker.guest.reset();
    worker.phase = Phase::none;
  }
}

void CompilerPool::fail_all(const Error& why) {
  lost_all(why);
  fail_waiting(why);
}

void CompilerPool::fail_waiting(const Error& why) {
  for (CompileJob& job : queue_.take_all()) unsorted_.push_back(std::move(job));
  for (CompileJob& job : std::exchange(unsorted_, {}))
    give(job, {.result = sandbox::InfrastructureFault{why.message}});
}

bool CompilerPool::idle() const {
  return unsorted_.empty() && queue_.empty() &&
         std::all_of(workers_.begin(), workers_.end(),
                     [](const Worker& worker) { return !worker.work; });
}

void CompilerPool::add_polls(std::vector<pollfd>& polls) const {
  for (const Worker& worker : workers_)
    if (worker.guest && worker.phase != Phase::over) worker.guest->add_polls(polls);
}

TimePoint CompilerPool::next_deadline() const {
  TimePoint next = TimePoint::max();
  for (const Worker& worker : workers_) {
    if (!worker.guest) continue;
    next = std::min(
        next, worker.phase == Phase::over ? worker.reaped_by.at() : worker.guest->deadline().at());
  }
  return next;
}

}  // namespace tritonsmith::gym::compile
