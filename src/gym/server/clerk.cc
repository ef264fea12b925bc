#include "gym/server/clerk.h"

#include <algorithm>

#include "base/log.h"

namespace tritonsmith::gym {
namespace {

// How long new jobs, deadlines and cancellations wait at most while the judge works.
constexpr auto kGlance = std::chrono::milliseconds(20);

Verdict failed_verdict(const Submission& submission, std::string error_class, std::string message) {
  Verdict verdict;
  verdict.task_id = submission.job.task.id;
  verdict.stage = Stage::extracted;
  verdict.policy = submission.job.policy;
  verdict.comparison = submission.job.comparison;
  verdict.fault = Fault::infrastructure;
  verdict.error =
      VerdictError{.error_class = std::move(error_class), .message = std::move(message)};
  return verdict;
}

}  // namespace

Clerk::Clerk(Docket& docket, MakeJudge make_judge, int at_once, ServiceMetrics& metrics)
    : docket_(docket),
      make_judge_(std::move(make_judge)),
      at_once_(static_cast<std::size_t>(at_once)),
      metrics_(metrics),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

Clerk::~Clerk() {
  thread_.request_stop();
  docket_.notify();
}

std::string Clerk::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Clerk::set_trouble(std::string why) {
  const std::lock_guard lock(mutex_);
  if (why != trouble_ && !why.empty()) LOG("gym: {}", why);
  trouble_ = std::move(why);
}

void Clerk::run(const std::stop_token& stop) {
  constexpr double shortest_pause = 0.05, longest_pause = 30;
  double pause = shortest_pause;
  while (!stop.stop_requested()) {
    const Stopwatch watch;
    const Status worked = [&]() -> Status {
      TRY_ASSIGN(const auto judge, make_judge_(stop));
      TRY(docket_.recall_queued());  // what came before the judge's versions were known
      return work(*judge, stop);
    }();
    for (const auto& [id, job] : running_) docket_.give_back(job.name);
    running_.clear();
    if (worked || stop.stop_requested()) return;
    set_trouble(worked.error().message);
    constexpr double a_good_while = 60;
    pause = watch.seconds() > a_good_while ? shortest_pause : std::min(2 * pause, longest_pause);
    rest(stop, pause);
  }
}

void Clerk::rest(const std::stop_token& stop, double seconds) const {
  const Deadline until = Deadline::in_seconds(seconds);
  while (!until.passed()) {
    const std::uint64_t seen = docket_.changes();  // before the stop, which is a change
    if (stop.stop_requested()) return;
    docket_.wait_for_change(seen, until);
  }
}

Status Clerk::work(Judge& judge, const std::stop_token& stop) {
  while (true) {
    const std::uint64_t seen = docket_.changes();
    if (stop.stop_requested()) return ok();
    TRY(withdraw(judge));
    TRY(hand_over(judge));
    if (running_.empty())
      docket_.wait_for_change(seen, Deadline::after(std::chrono::seconds(1)));
    else
      TRY(bring_back(judge));
  }
}

Status Clerk::hand_over(Judge& judge) {
  while (running_.size() < at_once_) {
    TRY_ASSIGN(auto submission, docket_.take());
    if (!submission) return ok();
    const std::uint64_t id = next_id_++;
    const std::string name = job_name(*submission);
    running_.emplace(id, Running{.name = name});
    submission->job.id = id;
    const Submission copy = *submission;
    Status submitted = judge.submit(std::move(submission->job));
    if (submitted) continue;
    // Nothing but a backend that is not here is refused by a judge in good order.
    if (copy.job.backend != Backend::replay) return submitted;
    running_.erase(id);
    TRY(conclude({{name, failed_verdict(copy, "infrastructure", submitted.error().message)}}));
  }
  return ok();
}

// What was cancelled, or is late.
Status Clerk::withdraw(Judge& judge) {
  std::vector<std::string> leaving = docket_.take_cancelled();
  TRY_ASSIGN(const auto late, docket_.overdue());
  std::vector<Docket::Concluded> concluded;
  for (const Submission& submission : late) {
    concluded.push_back(
        {job_name(submission), failed_verdict(submission, "deadline",
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

Status Clerk::bring_back(Judge& judge) {
  std::vector<Docket::Concluded> concluded;
  Deadline deadline = Deadline::after(kGlance);
  while (true) {
    TRY_ASSIGN(auto judged, judge.next(deadline));
    if (!judged) break;
    deadline = Deadline::after(std::chrono::nanoseconds(0));
    const auto at = running_.find(judged->id);
    if (at == running_.end()) continue;  // withdrawn meanwhile
    metrics_.count_verdict(judged->verdict, at->second.watch.seconds());
    notice(judged->verdict);
    concluded.push_back({at->second.name, std::move(judged->verdict)});
    running_.erase(at);
  }
  if (concluded.empty()) return ok();
  return conclude(std::move(concluded));
}

// One fault may be a job's bad luck, several in a row are ours.
void Clerk::notice(const Verdict& verdict) {
  constexpr int a_few = 5;
  const bool is_fault = verdict.fault == Fault::infrastructure;
  faults_in_a_row_ = is_fault ? faults_in_a_row_ + 1 : 0;
  if (!is_fault)
    set_trouble("");
  else if (faults_in_a_row_ >= a_few)
    set_trouble(fmt::format("{} infrastructure faults in a row, the last: {}", faults_in_a_row_,
                            verdict.error ? verdict.error->message : ""));
}

// A verdict that could not be written down is none: its job is given back, and the store answers.
Status Clerk::conclude(std::vector<Docket::Concluded> concluded) {
  Status done = docket_.conclude(concluded);
  if (!done)
    for (const Docket::Concluded& one : concluded) docket_.give_back(one.name);
  return done;
}

}  // namespace tritonsmith::gym
