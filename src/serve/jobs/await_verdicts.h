// Awaits verdicts for endpoints whose clients wait for them. A job's name follows from its content. So
// a request that comes again finds the jobs of the first, and none is judged twice. Any thread may
// call it. A call waits until its deadline at most.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "gym/service/routes/route_context.h"

namespace tritonsmith::serve {

// Why there is no verdict. None of the reasons says anything about a kernel.
enum class NoVerdict {
  pending,   // the deadline came first, or the queue had no room until then
  fault,     // the infrastructure failed on the job, again and again, or the job store did
  stopping,  // the service ends
};
struct NoVerdicts {
  NoVerdict reason = NoVerdict::fault;
  std::string message;
};
template <typename T>
using OrNoVerdicts = tl::expected<T, NoVerdicts>;

// One job that a client waits for. One thread owns it.
class JudgedJob {
 public:
  enum class State { fresh, submitted };
  JudgedJob(const gym::service::RouteContext& context, gym::api::Submission submission,
            gym::service::Submitter submitter, State state = State::fresh);

  // Submits the job, if it was not yet, and waits for its verdict. A job that ended in a fault of
  // the infrastructure is submitted again, twice at most. After `pending` the caller may wait again.
  OrNoVerdicts<Verdict> wait(Deadline deadline);
  // The client no longer wants the job. It is cancelled unless somebody else wants it.
  void cancel();
  const std::string& name() const { return name_; }
  const gym::api::Submission& submission() const { return submission_; }
  // Tells whether a judge has the job.
  bool is_running() const;

 private:
  const gym::service::RouteContext& context_;
  gym::api::Submission submission_;
  gym::service::Submitter submitter_;
  std::string name_;
  bool is_submitted_;
  int attempts_;
};

// Returns the verdicts of all jobs, in their order. Jobs without a verdict stay in the queue.
OrNoVerdicts<std::vector<Verdict>> judge_all(const gym::service::RouteContext& context,
                                             std::span<const gym::api::Submission> submissions,
                                             const gym::service::Submitter& submitter,
                                             Deadline deadline);

// Returns why no judge takes jobs, in one line; empty while one does.
std::string why_no_judge(const gym::service::RouteContext& context);
// Returns the reason, and for jobs that are pending also why no judge takes them, if none does.
NoVerdicts with_trouble(const gym::service::RouteContext& context, NoVerdicts why);

// The reply for clients that repeat a request: status 503 with Retry-After.
gym::service::HttpReply retry_later(const NoVerdicts& why);

}  // namespace tritonsmith::serve
