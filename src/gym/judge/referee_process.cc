#include "gym/judge/referee_process.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "gym/judge/reference_relay.h"
#include "gym/wire/frame.h"

namespace tritonsmith::gym::judge {
namespace {

constexpr int kRefereeFd = 3;
constexpr double kShellSeconds = 120;  // for one answer, including the start of Python
// How long the next job waits for an old referee to end. Together with the longest time of a
// kernel, this is well below the ten seconds within which a GPU serves again.
constexpr double kReapSeconds = 3;
constexpr double kSparePause = 60;    // after a spare ended by itself
constexpr double kProbeSeconds = 10;  // for jobs that take hundredths of a second
constexpr int kMisjudging = 3;        // after so many misjudging referees in a row, none is trusted

// The job is judged all the same, but a reader of its times must know about the other process.
Finding beside_a_dying_one() {
  return {.rule = "timed_in_company",
          .severity = Severity::note,
          .message =
              "a referee that was given up had not ended yet; the times may include what it "
              "left running"};
}

bool is_accepted(const referee::RefereeReport& report) {
  return report.correct && !report.error &&
         std::ranges::find(report.findings, Severity::reject, &Finding::severity) ==
             report.findings.end();
}

// A busy machine, or a failure of the referee itself, shows nothing about how it judges.
bool is_answer(const referee::RefereeReport& report) {
  return report.fault != Fault::infrastructure && !report.deadline_hit;
}

referee::RefereeReport crashed_twice(const std::string& how) {
  referee::RefereeReport report;
  report.error = VerdictError{.error_class = ErrorClass::crashed_referee,
                              .message = "running the plan ended the referee twice: " + how};
  report.fault = Fault::candidate;
  return report;
}

// A referee would take such a job for a broken connection.
referee::RefereeReport too_large(std::size_t bytes) {
  referee::RefereeReport report;
  report.error = VerdictError{
      .error_class = ErrorClass::too_large_to_evaluate,
      .message = fmt::format("a plan, or all compiled kernels together, take {} MiB, and a referee "
                             "accepts {}",
                             bytes >> 20, wire::kMaxFrameBytes >> 20)};
  report.fault = Fault::none;
  return report;
}

}  // namespace

RefereeProcess::RefereeProcess(RefereeProgram program, PythonReference* reference)
    : program_(std::move(program)), python_reference_(reference) {
  CHECK(!program_.argv.empty(), "a referee's program has no name");
  // A referee takes seconds to start, so it starts while other parts do. start() reports a failure.
  if (program_.gpu || program_.early)
    if (auto early = spawn()) spares_.push_back(*std::move(early));
}

RefereeOutcome RefereeProcess::judge(const referee::RefereeJob& job, const std::string& task_plan) {
  constexpr int attempts = 2;
  int crashes = 0;
  Broken last;
  for (int attempt = 0; attempt < attempts && !interrupted(); ++attempt) {
    auto report = ask(job, task_plan);
    if (report) {
      keep_probe(job, task_plan, *report);
      return *std::move(report);
    }
    if (!why_unfit_.empty()) return RefereeFailure{RefereeFailure::Kind::misjudges, why_unfit_};
    last = std::move(report).error();
    crashes += last.ending == Ending::crashed ? 1 : 0;
    if (last.ending == Ending::timeout)
      return RefereeFailure{RefereeFailure::Kind::timeout, std::move(last.message)};
  }
  if (interrupted())
    return RefereeFailure{RefereeFailure::Kind::infrastructure, "the judge was shut down"};
  if (crashes == attempts) return crashed_twice(last.message);
  return RefereeFailure{RefereeFailure::Kind::infrastructure, std::move(last.message)};
}

Result<Calibration> RefereeProcess::calibrate() {
  constexpr double patience = 30;  // the lease, the compiler and the rounds
  if (!program_.gpu) return fail("this referee has no GPU");
  if (interrupted()) return fail("the judge was shut down");
  if (!live_) TRY(ensure_live());
  const referee::RefereeJob no_job;
  const Json head = {{"calibrate", true}};
  const std::string none;
  const auto reply = exchange({no_job, head, none, none, Deadline::in_seconds(patience)});
  if (!reply) return fail_by_fault("{}", reply.error().message);
  if (!reply->contains("calibration"))
    return fail_by_fault("{}", reply->value("error", "the referee did not calibrate its GPU"));
  return calibration_from_json((*reply)["calibration"]);
}

// A thread that waits for the referee sees its socket end.
void RefereeProcess::interrupt() {
  const std::lock_guard lock(mutex_);
  interrupted_ = true;
  if (live_) live_->process.kill_tree();
}

bool RefereeProcess::is_live() const {
  const std::lock_guard lock(mutex_);
  return live_.has_value();
}

bool RefereeProcess::interrupted() const {
  const std::lock_guard lock(mutex_);
  return interrupted_;
}

RefereeProcess::Answer<referee::RefereeReport> RefereeProcess::ask(const referee::RefereeJob& job,
                                                                   const std::string& task_plan) {
  if (!live_) {
    if (const auto taken = ensure_live(); !taken)
      return tl::unexpected(Broken{Ending::infrastructure, taken.error().message});
  } else {
    replenish();
    is_alone_ = reap();
  }
  auto report =
      put(job, task_plan, Deadline::in_seconds(job.budget.seconds + program_.grace_seconds));
  if (report && report->spent) static_cast<void>(give_up("its GPU context is lost", Loss::late));
  if (report && !is_alone_ && report->timing) report->findings.push_back(beside_a_dying_one());
  return report;
}

RefereeProcess::Answer<referee::RefereeReport> RefereeProcess::put(const referee::RefereeJob& job,
                                                                   const std::string& task_plan,
                                                                   Deadline deadline) {
  const Json judge = {{"judge", referee::to_json(job)}};
  const std::string binaries = referee::joined_binaries(job), none;
  const Json add = {{"add_task", job.task_key}};
  for (const std::string* part : {&task_plan, &job.candidate_plan, &binaries})
    if (part->size() > wire::kMaxFrameBytes) return too_large(part->size());
  auto reply = exchange({job, judge, job.candidate_plan, binaries, deadline});
  if (reply && reply->contains("unknown_task")) {
    auto added = exchange({job, add, task_plan, none, deadline});
    if (!added) return tl::unexpected(added.error());
    if (added->contains("error"))
      return tl::unexpected(Broken{Ending::infrastructure, "the referee refuses the task's plan: " +
                                                               (*added)["error"].dump()});
    reply = exchange({job, judge, job.candidate_plan, binaries, deadline});
  }
  if (!reply) return tl::unexpected(reply.error());
  auto report = referee::referee_report_from_json((*reply)["report"]);
  if (!report) return tl::unexpected(give_up(report.error().message, Loss::broken));
  return *std::move(report);
}

Status RefereeProcess::ensure_live() {
  if (!why_unfit_.empty()) return fail("{}", why_unfit_);
  for (int misjudging = 0; misjudging < kMisjudging; ++misjudging) {
    TRY(start());
    ++came_up_;
    replenish();
    is_alone_ = reap();
    const auto showing = examine();
    if (!showing) return fail("a new referee judged no probe: {}", showing.error().message);
    if (*showing == Showing::judges) return ok();
  }
  static_cast<void>(reap());
  why_unfit_ = fmt::format(
      "{} referees in a row misjudged kernels that are known{}; nothing is judged by what errs",
      kMisjudging,
      program_.gpu
          ? fmt::format(" on GPU {}: run `tritonsmith doctor`, or leave it out (judge.only_gpus)",
                        *program_.gpu)
          : "");
  return fail("{}", why_unfit_);
}

// The previous referee survived the same probes. If this one dies, the waiting job is not blamed.
RefereeProcess::Answer<RefereeProcess::Showing> RefereeProcess::examine() {
  for (const KnownJob& known : probes_) {
    auto report = put(known.job, known.task_plan, Deadline::in_seconds(kProbeSeconds));
    if (!report) return tl::unexpected(std::move(report).error());
    if (!is_answer(*report) || report->spent)
      return tl::unexpected(
          give_up(report->error ? report->error->message : "out of time", Loss::late));
    if (is_accepted(*report) == (known.job.probe == referee::Probe::right)) continue;
    LOG("a referee that {} what is {} is not used", is_accepted(*report) ? "accepts" : "refuses",
        known.job.probe == referee::Probe::right ? "right" : "wrong");
    static_cast<void>(give_up("it misjudges", Loss::late));
    return Showing::misjudges;
  }
  return Showing::judges;
}

void RefereeProcess::keep_probe(const referee::RefereeJob& job, const std::string& task_plan,
                                const referee::RefereeReport& report) {
  if (job.probe == referee::Probe::none || !is_answer(report) || report.spent ||
      is_accepted(report) != (job.probe == referee::Probe::right))
    return;
  const auto is_this = [&](const KnownJob& known) {
    return known.job.task_key == job.task_key && known.job.candidate_plan == job.candidate_plan;
  };
  if (std::ranges::any_of(probes_, is_this)) return;
  probes_.push_back({job, task_plan});
  probes_.back().job.budget.timing_seconds = 0;
}

RefereeProcess::Answer<Json> RefereeProcess::exchange(const Request& request) {
  const int socket = live_->socket.get();
  const Deadline deadline = request.deadline;
  const bool sent =
      wire::write_frame(socket, to_line(request.head), deadline) &&
      wire::write_frame(socket, request.plan, deadline) &&
      (request.binaries.empty() || wire::write_frame(socket, request.binaries, deadline));
  if (!sent)
    return tl::unexpected(give_up("it took no job", deadline.passed() ? Loss::late : Loss::broken));
  return await_reply(request);
}

RefereeProcess::Answer<Json> RefereeProcess::await_reply(const Request& request) {
  const int socket = live_->socket.get();
  std::chrono::nanoseconds relayed{0};
  while (true) {
    const auto left = request.deadline.at() - system_clock().now() + relayed;
    auto frame = wire::read_frame(socket, Deadline::after(left));
    if (!frame) {
      const bool is_late = frame.error().fault == wire::FrameFault::timeout;
      return tl::unexpected(
          give_up(frame.error().error.message, is_late ? Loss::late : Loss::broken));
    }
    auto json = parse_json(frame->payload);
    if (!json || !json->is_object())
      return tl::unexpected(give_up("its reply is no JSON", Loss::broken));
    if (!json->contains("reference")) return *std::move(json);
    const TimePoint start = system_clock().now();
    const auto passed = relay_to_reference({.question = (*json)["reference"],
                                            .task_source = request.job.task_source,
                                            .referee = socket,
                                            .seconds = kShellSeconds},
                                           python_reference_);
    if (!passed) return tl::unexpected(give_up(passed.error().message, Loss::broken));
    relayed += system_clock().now() - start;
  }
}

Result<RefereeProcess::Live> RefereeProcess::spawn() {
  TRY_ASSIGN(SocketPair sockets, make_socket_pair());
  ProcessOptions options{.argv = program_.argv,
                         .environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"},
                         .fds = {{sockets.theirs.get(), kRefereeFd}, {2, 2}}};
  // The referee needs the paths of libraries and the choice of GPUs.
  for (const std::string name : {"LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name.c_str()))
      options.environment.push_back(name + "=" + value);
  if (program_.gpu) {
    options.argv.insert(options.argv.end(), {"--gpu", std::to_string(*program_.gpu)});
    if (!program_.lease.empty())
      options.argv.insert(options.argv.end(), {"--lease", program_.lease});
    options.environment.emplace_back("CUDA_CACHE_DISABLE=1");
    // Large jobs of many sizes would leave holes in segments that cannot grow.
    const char* allocator = std::getenv("PYTORCH_CUDA_ALLOC_CONF");
    options.environment.push_back(
        fmt::format("PYTORCH_CUDA_ALLOC_CONF={}",
                    allocator != nullptr ? allocator : "expandable_segments:True"));
  }
  if (program_.memory_bytes > 0)
    options.argv.insert(options.argv.end(), {"--memory", std::to_string(program_.memory_bytes)});
  auto process = Process::spawn(options);
  if (!process) return fail("{}", process.error().within("cannot start a referee").message);
  ++starts_;
  return Live{*std::move(process), std::move(sockets.ours)};
}

Result<RefereeProcess::Live> RefereeProcess::next_in_line() {
  if (spares_.empty()) return spawn();
  Live next = std::move(spares_.front());
  spares_.pop_front();
  return next;
}

Status RefereeProcess::start() {
  while (true) {
    const bool stood_by = !spares_.empty();
    TRY_ASSIGN(Live next, next_in_line());
    {
      const std::lock_guard lock(mutex_);
      if (interrupted_) return fail("the judge was shut down");
      live_ = std::move(next);
    }
    if (wire::read_frame(live_->socket.get(), Deadline::in_seconds(program_.start_seconds)))
      return ok();
    const Broken how = give_up("it did not come up", Loss::broken);
    // If a waiting spare was killed, the next one need not be.
    if (!stood_by) return fail("the referee did not start: {}", how.message);
  }
}

// This is no failure: a job can be judged without spares. If a spare cannot start, for example on a
// GPU without room for a second context, it is not tried again with every job.
void RefereeProcess::replenish() {
  const auto has_ended = [this](Live& spare) {
    const auto ended = spare.process.wait(Deadline::after(std::chrono::nanoseconds(0)));
    if (!ended) return false;
    if (ended->kind == ExitStatus::Kind::exited) {
      LOG("a spare referee {}; the next is tried in {:.0f} s", describe(*ended), kSparePause);
      spares_from_ = Deadline::in_seconds(kSparePause);
    }
    return true;
  };
  std::erase_if(spares_, has_ended);
  if (!spares_from_.passed()) return;
  while (std::ssize(spares_) < program_.spares) {
    auto spare = spawn();
    if (!spare) {
      LOG("no spare referee: {}", spare.error().message);
      return;
    }
    spares_.push_back(*std::move(spare));
  }
}

// Ends the referee and tells how it ended. A referee that no longer answers is not waited for here,
// since its verdict is known.
RefereeProcess::Broken RefereeProcess::give_up(const std::string& what, Loss loss) {
  Live dead = [this] {
    const std::lock_guard lock(mutex_);
    Live last = std::move(*live_);
    live_.reset();
    return last;
  }();
  dead.socket.reset();
  const bool is_late = loss == Loss::late;
  const auto ended = is_late ? Result<ExitStatus>(fail("not waited for"))
                             : dead.process.wait(Deadline::in_seconds(1));
  if (!ended) {
    dead.process.kill_tree();
    given_up_.push_back(std::move(dead.process));
    if (is_late) return {Ending::timeout, "no verdict within the time budget"};
    return {Ending::infrastructure, fmt::format("the referee broke off: {}", what)};
  }
  // The referee left because this client did: its reply made no sense, but no plan killed it.
  if (ended->success())
    return {Ending::infrastructure, fmt::format("the referee broke off: {}", what)};
  // Only a machine short of memory kills by SIGKILL. The plan did not cause it, since its
  // memory is limited.
  const bool killed = ended->kind == ExitStatus::Kind::signalled && ended->code == SIGKILL;
  return {killed ? Ending::infrastructure : Ending::crashed, describe(*ended)};
}

// A process gives back its GPU only after the driver has stopped its kernels.
bool RefereeProcess::reap() {
  const Stopwatch watch;
  const Deadline patience = Deadline::in_seconds(kReapSeconds);
  std::erase_if(given_up_, [&](Process& process) { return process.wait(patience).has_value(); });
  if (watch.seconds() > 1)
    LOG("a referee that was given up took {:.1f} s to end{}", watch.seconds(),
        given_up_.empty() ? "" : ", and has not");
  return given_up_.empty();
}

}  // namespace tritonsmith::gym::judge
