#include "gym/service/job_dispatcher.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "base/log.h"

namespace tritonsmith::gym::service {
namespace {

// How long new jobs, deadlines and cancellations wait at most while the judge works.
constexpr auto kGlance = std::chrono::milliseconds(20);
// After so many infrastructure faults in a row the judge is replaced.
constexpr int kFaultsThatEndAJudge = 5;

std::string fresh_worker_name() {
  std::random_device device;
  return fmt::format("worker-{:08x}{:08x}", device(), device());
}

Verdict failed_verdict(const api::Submission& submission, ErrorClass error_class,
                       std::string message) {
  Verdict verdict;
  verdict.task_id = submission.job.task.id;
  verdict.stage = Stage::extracted;
  verdict.policy = submission.job.policy;
  verdict.comparison = submission.job.comparison;
  verdict.fault = Fault::infrastructure;
  verdict.error = VerdictError{.error_class = error_class, .message = std::move(message)};
  return verdict;
}

}  // namespace

JobDispatcher::JobDispatcher(JobStore& job_store, MakeJudge make_judge, WorkerSettings settings,
                             ServiceMetrics& metrics)
    : job_store_(job_store),
      make_judge_(std::move(make_judge)),
      lease_(lease_of(settings)),
      settings_(std::move(settings)),
      metrics_(metrics),
      gpus_(job_store.gpus(), gpus_of(settings_), metrics),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Lease JobDispatcher::lease_of(const WorkerSettings& settings) {
  return {.worker = fresh_worker_name(),
          .span = settings.lease,
          .devices = settings.is_alone ? std::vector<std::string>() : settings.devices};
}

WatchedGpus JobDispatcher::gpus_of(const WorkerSettings& settings) {
  return {.gpus = settings.gpus,
          .device = settings.devices.empty() ? "" : settings.devices.back(),
          .host = settings.host,
          .take_faults = settings.take_gpu_faults};
}

JobDispatcher::~JobDispatcher() {
  thread_.request_stop();
  job_store_.notify();
}

void JobDispatcher::drain(Deadline deadline) {
  std::unique_lock lock(mutex_);
  is_draining_ = true;
  drained_.wait_until(lock, deadline.at(), [&] { return is_drained_ || !has_judge_; });
}

ServiceHealth JobDispatcher::health() const {
  return {.trouble = [this] { return trouble(); },
          .why_not_ready = [this] { return why_not_ready(); },
          .failed_start =
              [this] {
                const std::lock_guard lock(mutex_);
                return failed_start_;
              }};
}

WorkerView JobDispatcher::describe() const {
  return {.host = settings_.host,
          .role = settings_.role,
          .devices = settings_.devices,
          .gpus = lease_.gpus,
          .at_once = settings_.at_once,
          .running = static_cast<int>(running_.size()),
          .version = settings_.version,
          .trouble = why_not_ready()};
}

std::string JobDispatcher::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

std::string JobDispatcher::why_not_ready() const {
  const std::lock_guard lock(mutex_);
  if (!trouble_.empty()) return trouble_;
  if (is_draining_) return "it finishes its jobs and takes no more";
  return has_judge_ ? "" : "the judge is starting: its self-test has not passed yet";
}

void JobDispatcher::set_has_judge(bool has_judge) {
  const std::lock_guard lock(mutex_);
  has_judge_ = has_judge;
  drained_.notify_all();
}

void JobDispatcher::set_trouble(std::string why) {
  const std::lock_guard lock(mutex_);
  if (why != trouble_ && !why.empty()) LOG("gym: {}", why);
  trouble_ = std::move(why);
}

void JobDispatcher::run(const std::stop_token& stop) {
  constexpr double shortest_pause = 0.05, longest_pause = 30;
  double pause = shortest_pause;
  while (!stop.stop_requested()) {
    const Stopwatch watch;
    const Status worked = [&]() -> Status {
      TRY_ASSIGN(left_out_, gpus_.quarantined());
      lease_.gpus = gpus_.without(left_out_);
      auto made = make_judge_(stop);
      {
        const std::lock_guard lock(mutex_);
        failed_start_ = made ? "" : made.error().message;
      }
      TRY_ASSIGN(const auto judge, std::move(made));
      gpus_.begin_judge();
      set_has_judge(true);
      faults_in_a_row_ = 0;
      set_trouble("");  // this judge has passed its self-test
      metrics_.begin_judge();
      TRY(job_store_.recall_queued());  // what came before the judge's versions were known
      return work(*judge, stop);
    }();
    set_has_judge(false);
    for (const auto& [id, job] : running_) job_store_.give_back(lease_.worker, job.name);
    running_.clear();
    note_drained();
    if (worked || stop.stop_requested()) break;
    set_trouble(worked.error().message);
    static_cast<void>(
        job_store_.reports().announce(lease_, describe()));  // the store itself may be the trouble
    constexpr double a_good_while = 60;
    pause = watch.seconds() > a_good_while ? shortest_pause : std::min(2 * pause, longest_pause);
    rest(stop, pause);
  }
  // A store that cannot be reached forgets a silent worker by itself.
  static_cast<void>(job_store_.reports().depart(lease_.worker));
}

void JobDispatcher::rest(const std::stop_token& stop, double seconds) const {
  const Deadline until = Deadline::in_seconds(seconds);
  while (!until.passed()) {
    const std::uint64_t seen = job_store_.changes();  // before the stop, which is a change
    if (stop.stop_requested()) return;
    job_store_.wait_for_change(seen, until);
  }
}

Status JobDispatcher::work(api::Judge& judge, const std::stop_token& stop) {
  while (true) {
    const std::uint64_t seen = job_store_.changes();
    if (stop.stop_requested()) return ok();
    TRY(watch_gpus(judge));
    TRY(withdraw(judge));
    TRY(hand_over(judge));
    note_drained();
    if (running_.empty())
      job_store_.wait_for_change(seen, Deadline::after(std::chrono::seconds(1)));
    else
      TRY(bring_back(judge));
    metrics_.set_devices(judge.devices());
  }
}

Status JobDispatcher::watch_gpus(api::Judge& judge) {
  TRY_ASSIGN(const bool is_new, gpus_.look(judge.devices()));
  constexpr double a_while = 1;  // an operator should not have to wait
  if (!is_new && since_look_ && since_look_->seconds() < a_while) return keep_lease();
  since_look_.emplace();
  TRY_ASSIGN(const auto quarantined, gpus_.quarantined());
  if (quarantined != left_out_)
    return fail("the quarantine of this host's GPUs has changed: judging starts again");
  return keep_lease();
}

// Before anything is taken, so that this worker never takes a job from itself.
Status JobDispatcher::keep_lease() {
  constexpr double a_fraction = 0.2;
  const double span = std::chrono::duration<double>(lease_.span).count();
  if (since_heartbeat_ && since_heartbeat_->seconds() < a_fraction * span) return ok();
  TRY(job_store_.renew(lease_));
  TRY(job_store_.reports().announce(lease_, describe()));
  since_heartbeat_.emplace();
  return ok();
}

void JobDispatcher::note_drained() {
  const std::lock_guard lock(mutex_);
  is_drained_ = is_draining_ && running_.empty();
  if (is_drained_) drained_.notify_all();
}

bool JobDispatcher::has_device(const api::JudgeJob& job) const {
  return job.device.empty() ||
         std::ranges::find(settings_.devices, job.device) != settings_.devices.end();
}

bool JobDispatcher::is_draining() const {
  const std::lock_guard lock(mutex_);
  return is_draining_;
}

// Takes a part of what there is room for at a time, so that another worker gets its share of a few
// jobs.
Status JobDispatcher::hand_over(api::Judge& judge) {
  constexpr int parts = 4;
  while (true) {
    const int room = settings_.at_once - static_cast<int>(running_.size());
    if (room <= 0 || is_draining()) return ok();
    const int most = (room + parts - 1) / parts;
    TRY_ASSIGN(auto taken, job_store_.take(lease_, most));
    // All are noted first: if the judge breaks down, those that it never got are given back too.
    for (api::Submission& submission : taken) {
      submission.job.id = next_id_++;
      running_.emplace(submission.job.id, Running{.name = api::job_name(submission)});
    }
    const int count = static_cast<int>(taken.size());
    for (api::Submission& submission : taken) TRY(give_to(judge, std::move(submission)));
    if (count < most) return ok();
  }
}

Status JobDispatcher::give_to(api::Judge& judge, api::Submission submission) {
  const auto end = [&](std::string why) {
    const auto at = running_.find(submission.job.id);
    const std::string name = at->second.name;
    running_.erase(at);
    return conclude(
        {{name, failed_verdict(submission, ErrorClass::infrastructure, std::move(why))}});
  };
  if (!has_device(submission.job))
    return end(fmt::format("this gym has no device '{}'; it has {}", submission.job.device,
                           fmt::join(settings_.devices, ", ")));
  Status submitted = judge.submit(submission.job);
  // Nothing but a backend that is not here is refused by a judge in good order.
  if (submitted || submission.job.backend != Backend::replay) return submitted;
  return end(submitted.error().message);
}

// Takes back jobs that were cancelled, taken over or concluded elsewhere, or that are late.
Status JobDispatcher::withdraw(api::Judge& judge) {
  if (since_withdrawal_ && since_withdrawal_->milliseconds() < static_cast<double>(kGlance.count()))
    return ok();
  since_withdrawal_.emplace();
  TRY_ASSIGN(std::vector<std::string> leaving, job_store_.take_withdrawn(lease_.worker));
  TRY_ASSIGN(const auto late, job_store_.overdue());
  std::vector<ConcludedJob> concluded;
  for (const api::Submission& submission : late) {
    concluded.push_back({api::job_name(submission),
                         failed_verdict(submission, ErrorClass::deadline,
                                        "no verdict before the deadline of its submission")});
    leaving.push_back(concluded.back().name);
  }
  std::erase_if(running_, [&](const auto& entry) {
    if (std::ranges::find(leaving, entry.second.name) == leaving.end()) return false;
    judge.cancel(entry.first);
    return true;
  });
  return concluded.empty() ? ok() : conclude(std::move(concluded));
}

Status JobDispatcher::bring_back(api::Judge& judge) {
  std::vector<ConcludedJob> concluded;
  Deadline deadline = Deadline::after(kGlance);
  while (true) {
    TRY_ASSIGN(auto judged, judge.next(deadline));
    if (!judged) break;
    deadline = Deadline::after(std::chrono::nanoseconds(0));
    const auto at = running_.find(judged->id);
    if (at == running_.end()) continue;  // withdrawn meanwhile
    metrics_.count_verdict(judged->verdict, at->second.watch.seconds());
    notice(judged->verdict);
    concluded.push_back({at->second.name, std::move(judged->verdict), std::move(judged->gpu)});
    running_.erase(at);
  }
  if (!concluded.empty()) TRY(conclude(std::move(concluded)));
  // A new judge must pass its self-test, whether or not further jobs come.
  if (faults_in_a_row_ >= kFaultsThatEndAJudge) return fail("{}", trouble());
  return ok();
}

// One fault may be a job's bad luck, several in a row are ours.
void JobDispatcher::notice(const Verdict& verdict) {
  const bool is_fault = verdict.fault == Fault::infrastructure;
  faults_in_a_row_ = is_fault ? faults_in_a_row_ + 1 : 0;
  if (!is_fault)
    set_trouble("");
  else if (faults_in_a_row_ >= kFaultsThatEndAJudge)
    set_trouble(fmt::format("{} infrastructure faults in a row, the last: {}", faults_in_a_row_,
                            verdict.error ? verdict.error->message : ""));
}

// A verdict that could not be written down is none: its job is given back, and the store answers.
Status JobDispatcher::conclude(std::vector<ConcludedJob> concluded) {
  Status done = job_store_.conclude(lease_.worker, concluded);
  if (!done)
    for (const ConcludedJob& one : concluded) job_store_.give_back(lease_.worker, one.name);
  return done;
}

}  // namespace tritonsmith::gym::service
