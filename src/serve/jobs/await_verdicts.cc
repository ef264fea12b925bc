#include "serve/jobs/await_verdicts.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace tritonsmith::serve {
namespace {

using gym::service::JobState;
using gym::service::JobStoreFull;
using gym::service::JobView;
using gym::service::RouteContext;
using gym::service::Submitter;
using Submissions = std::span<const gym::api::Submission>;

constexpr std::size_t kAtOnce = 100;  // jobs of one submission, so that a large batch finds room
constexpr int kAttempts = 3;

tl::unexpected<NoVerdicts> none(NoVerdict reason, std::string message) {
  return tl::unexpected<NoVerdicts>({.reason = reason, .message = std::move(message)});
}

// Puts jobs into the queue, as soon as it has room.
OrNoVerdicts<void> submit(const RouteContext& context, Submissions jobs, const Submitter& submitter,
                          Deadline deadline) {
  while (true) {
    const std::uint64_t seen = context.job_store.changes();
    auto submitted = context.job_store.submit(jobs, submitter);
    if (!submitted) return none(NoVerdict::fault, submitted.error().message);
    if (const auto* views = std::get_if<std::vector<JobView>>(&*submitted)) {
      const auto repeats = std::ranges::count_if(
          *views, [](const JobView& job) { return job.state != JobState::queued; });
      context.metrics.count_submission(jobs.size(), static_cast<std::size_t>(repeats));
      return {};
    }
    const auto* full = std::get_if<JobStoreFull>(&*submitted);
    CHECK(full != nullptr, "jobs without a client belong to nobody who has left");
    if (context.stopping.stop_requested()) return none(NoVerdict::stopping, "the service stops");
    if (jobs.size() > static_cast<std::size_t>(full->limit) && jobs.size() > 1) {
      const std::size_t half = jobs.size() / 2;  // all of them never have room together
      if (auto sent = submit(context, jobs.first(half), submitter, deadline); !sent) return sent;
      return submit(context, jobs.subspan(half), submitter, deadline);
    }
    if (deadline.passed())
      return none(NoVerdict::pending, fmt::format("{} of at most {} jobs are unfinished; try again "
                                                  "later",
                                                  full->unfinished, full->limit));
    context.job_store.wait_for_change(seen, deadline);
  }
}

// Waits until the job is done or cancelled.
OrNoVerdicts<JobView> wait_for(const RouteContext& context, const std::string& name,
                               Deadline deadline) {
  while (true) {
    const std::uint64_t seen = context.job_store.changes();
    const auto job = context.job_store.find(name);
    if (!job) return none(NoVerdict::fault, job.error().message);
    if (!*job) return none(NoVerdict::fault, "the job was forgotten; send it again");
    if ((*job)->state == JobState::done || (*job)->state == JobState::cancelled) return **job;
    if (context.stopping.stop_requested())
      return none(NoVerdict::stopping, "the service stops; the job is kept");
    if (deadline.passed())
      return none(NoVerdict::pending,
                  "there is no verdict yet; send the same request again, nothing is judged twice");
    context.job_store.wait_for_change(seen, deadline);
  }
}

Result<Verdict> verdict_of(const JobView& job) {
  TRY_ASSIGN(const Json json, parse_json(job.verdict));
  return verdict_from_json(json);
}

}  // namespace

JudgedJob::JudgedJob(const RouteContext& context, gym::api::Submission submission,
                     Submitter submitter, State state)
    : context_(context),
      submission_(std::move(submission)),
      submitter_(std::move(submitter)),
      name_(gym::api::job_name(submission_)),
      is_submitted_(state == State::submitted),
      attempts_(is_submitted_ ? 1 : 0) {}

OrNoVerdicts<Verdict> JudgedJob::wait(Deadline deadline) {
  std::string fault = "the job was cancelled";
  while (true) {
    if (!is_submitted_) {
      if (const auto sent = submit(context_, {&submission_, 1}, submitter_, deadline); !sent)
        return tl::unexpected(sent.error());
      is_submitted_ = true;
      ++attempts_;
    }
    const auto job = wait_for(context_, name_, deadline);
    if (!job) return tl::unexpected(job.error());
    is_submitted_ = false;
    if (job->state == JobState::done) {
      auto verdict = verdict_of(*job);
      if (!verdict) return none(NoVerdict::fault, verdict.error().message);
      if (verdict->fault != Fault::infrastructure) return *std::move(verdict);
      fault = verdict->error ? verdict->error->message : "no reason is known";
    }
    if (attempts_ >= kAttempts)
      return none(NoVerdict::fault, fmt::format("the judge failed {} times: {}", attempts_, fault));
  }
}

void JudgedJob::cancel() {
  if (is_submitted_) static_cast<void>(context_.job_store.cancel(name_, submission_.client));
}

bool JudgedJob::is_running() const {
  const auto job = context_.job_store.find(name_);
  return job && *job && (*job)->state == JobState::running;
}

OrNoVerdicts<std::vector<Verdict>> judge_all(const RouteContext& context, Submissions submissions,
                                             const Submitter& submitter, Deadline deadline) {
  for (std::size_t at = 0; at < submissions.size(); at += kAtOnce)
    if (const auto sent =
            submit(context, submissions.subspan(at, std::min(kAtOnce, submissions.size() - at)),
                   submitter, deadline);
        !sent)
      return tl::unexpected(with_trouble(context, sent.error()));
  std::vector<Verdict> verdicts;
  for (const gym::api::Submission& submission : submissions) {
    auto verdict =
        JudgedJob(context, submission, submitter, JudgedJob::State::submitted).wait(deadline);
    if (!verdict) return tl::unexpected(with_trouble(context, verdict.error()));
    verdicts.push_back(*std::move(verdict));
  }
  return verdicts;
}

std::string why_no_judge(const RouteContext& context) {
  return context.health.why_not_ready ? context.health.why_not_ready() : "";
}

NoVerdicts with_trouble(const RouteContext& context, NoVerdicts why) {
  if (why.reason != NoVerdict::pending) return why;
  if (const std::string trouble = why_no_judge(context); !trouble.empty())
    why.message += "; no judge takes jobs: " + trouble;
  return why;
}

gym::service::HttpReply retry_later(const NoVerdicts& why) {
  switch (why.reason) {
    case NoVerdict::pending:
      return gym::service::error_reply(503, "pending", why.message);
    case NoVerdict::stopping:
      return gym::service::error_reply(503, "stopping", why.message);
    case NoVerdict::fault:
      break;
  }
  return gym::service::error_reply(503, "infrastructure", why.message);
}

}  // namespace tritonsmith::serve
