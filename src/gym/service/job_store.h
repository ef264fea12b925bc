// JobStore: the interface to the jobs of a service. API servers submit jobs and read verdicts.
// Workers (JobDispatchers) take jobs and conclude them. One store serves any number of API servers
// and workers.
//
//   queued --> running --> done
//      \---------\------> cancelled   no client wants the verdict any more
//
// A cancelled job that is submitted again becomes queued again. Every implementation keeps these
// promises, and job_store_contract_test.cc checks them:
//   * A job that submit() has acknowledged is never lost, even if processes die.
//   * Equal jobs (job_name) are one job. Its first verdict counts, and later ones are dropped.
//   * Each client that wants a verdict gets it once, as a numbered event.
//   * A running job belongs to one worker until its lease ends. Then another worker may take it.
//
// Any thread may call a store. Only wait_for_change waits. SqliteJobStore serves one program, and
// redis/ many hosts.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "gym/api/submission.h"
#include "gym/service/gpu_records.h"
#include "gym/service/job_aliases.h"
#include "gym/service/worker_reports.h"

namespace tritonsmith::gym::service {

enum class JobState { queued, running, done, cancelled };

struct JobStoreLimits {
  int unfinished = 10'000;  // the store refuses more
  int finished = 20'000;    // kept for clients that ask later; the store forgets the oldest
};

// Returns the verdict on an equal job from another location, such as a judge's verdict store. Any
// thread may call it.
using RecallVerdict = std::function<std::optional<Verdict>(const api::JudgeJob&)>;

struct JobView {
  std::string name;  // job_name
  JobState state = JobState::queued;
  std::string verdict;                             // JSON text; empty until it is done
  std::int64_t submitted_ms = 0, finished_ms = 0;  // since 1970
  // If its verdict is in doubt and the job is judged again (gpu_records.h), the reason. Else empty.
  std::string doubt = {};
};

// A verdict on its way to one client.
struct VerdictEvent {
  std::int64_t number = 0;  // larger than those of all earlier events
  std::string job;
  std::string verdict;  // JSON text
};

// A program that submits jobs, and the limit of its unfinished jobs. A job counts for the submitter
// that submitted it first.
struct Submitter {
  std::string name;    // empty: the submitter has no name
  int unfinished = 0;  // 0: only the store's own limit
};

// The answer if the jobs exceed the limit of the store, or that of their submitter.
struct JobStoreFull {
  int unfinished = 0, limit = 0;
  std::string submitter;  // empty: the store itself is full
};

// The answer if one of the submissions names a client that has left.
struct ClientGone {
  std::string client;
};

struct ConcludedJob {
  std::string name;
  Verdict verdict;
  std::string gpu = {};  // the UUID of the GPU that ran its plan; empty: it ran on none
};

struct JobCounts {
  std::map<api::Priority, int> queued;  // has every priority
  int running = 0;
  int limit = 0;                       // the limit of all unfinished jobs
  std::int64_t repeated_verdicts = 0;  // dropped verdicts, because the job had one already
  int quarantined_gpus = 0;            // gpu_records.h
  std::int64_t judged_again = 0;       // jobs with another verdict, as the first was in doubt
};

// API servers call the functions up to counts(), workers those from recall_queued() to overdue(),
// and both call the rest.
class JobStore {
 public:
  using Submitted = std::variant<std::vector<JobView>, JobStoreFull, ClientGone>;

  virtual ~JobStore() = default;

  // Takes all submissions or none. A job whose verdict is known is `done` at once, and does not
  // count against the limits.
  virtual Result<Submitted> submit(std::span<const api::Submission> submissions,
                                   const Submitter& submitter) = 0;
  virtual Result<std::optional<JobView>> find(const std::string& name) = 0;
  // Withdraws the client from the job. If no other client wants it, cancels the job and returns
  // true.
  virtual Result<bool> cancel(const std::string& name, const std::string& client) = 0;
  // Cancels everything unfinished that the client wanted.
  virtual Status cancel_all(const std::string& client) = 0;
  // Does the same, and from now on refuses submissions under the client's name, because a request
  // of a client may arrive after the client has left.
  virtual Status dismiss(const std::string& client) = 0;
  // Returns the client's verdicts with numbers above `after`, in order.
  virtual Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                                   int limit) = 0;
  // Returns how many verdicts the client has yet to get.
  virtual Result<std::int64_t> awaited_by(const std::string& client) = 0;
  // Returns the name of the store's epoch. A new store has a new one. Numbers of events are valid
  // only within one epoch.
  virtual const std::string& epoch() const = 0;
  virtual Result<JobCounts> counts() const = 0;

  // Concludes all queued jobs whose verdict RecallVerdict returns, in any order.
  virtual Status recall_queued() = 0;
  // Returns at most `most` jobs: the most urgent queued ones, and those whose lease has ended. They
  // are now running. The call first renews the worker's own leases, because the worker is alive. It
  // may return fewer jobs if they are large, and the worker then calls again.
  virtual Result<std::vector<api::Submission>> take(const Lease& lease, int most) = 0;
  // The worker's heartbeat: renews the lease of all jobs that the worker has.
  virtual Status renew(const Lease& lease) = 0;
  // Stores all verdicts in one commit. It leaves out jobs that are finished or cancelled already.
  virtual Status conclude(const std::string& worker, std::span<const ConcludedJob> concluded) = 0;
  // Queues a job again that the worker could not judge, before jobs that came later. If the store
  // cannot be reached, the job is queued again when its lease ends.
  virtual void give_back(const std::string& worker, const std::string& name) = 0;
  // Returns the jobs that the worker need not judge any more, because they were cancelled, or
  // another worker concluded or took them. Each call returns what is new since the last one.
  virtual Result<std::vector<std::string>> take_withdrawn(const std::string& worker) = 0;
  // Returns unfinished jobs whose deadline has passed.
  virtual Result<std::vector<api::Submission>> overdue() = 0;

  virtual GpuRecords& gpus() = 0;
  virtual JobAliases& aliases() = 0;
  virtual WorkerReports& reports() = 0;
  // Returns a number that grows with every change.
  virtual std::uint64_t changes() const = 0;
  // Waits until changes() exceeds `seen`.
  virtual void wait_for_change(std::uint64_t seen, Deadline deadline) const = 0;
  // Wakes every caller that waits.
  virtual void notify() = 0;
};

}  // namespace tritonsmith::gym::service

namespace tritonsmith {
template <>
inline constexpr auto enum_names<gym::service::JobState> =
    names<gym::service::JobState>({{gym::service::JobState::queued, "queued"},
                                   {gym::service::JobState::running, "running"},
                                   {gym::service::JobState::done, "done"},
                                   {gym::service::JobState::cancelled, "cancelled"}});
}  // namespace tritonsmith
