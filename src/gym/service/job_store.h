// JobStore: what a service keeps of its jobs. Doors (HTTP servers) put jobs in and read verdicts;
// workers (JobDispatchers) take jobs and conclude them. One store serves any number of both.
//
//   queued -> (taken: running) -> done
//      \--> cancelled, when nobody wants it any more; submitted again, it is queued anew
//
// Every implementation promises this, and job_store_contract_test.cc checks it:
//   * A job that submit() has acknowledged is not lost, whatever dies.
//   * Equal jobs (job_name) are one job. The first verdict of a job counts; later ones are dropped.
//   * Each client that wants a verdict gets it once, as a numbered event.
//   * A running job belongs to one worker until its lease ends. Then another worker may take it.
//
// Any thread may call. Nothing waits but wait_for_change. SqliteJobStore is the embedded
// implementation.
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

namespace tritonsmith::gym::service {

enum class JobState { queued, running, done, cancelled };

struct JobStoreLimits {
  int unfinished = 10'000;  // more are refused
  int finished = 20'000;    // kept for those who ask later; beyond it the oldest are forgotten
};

// Returns the verdict on an equal job that somebody keeps elsewhere. Called from any thread.
using RecallVerdict = std::function<std::optional<Verdict>(const api::JudgeJob&)>;

struct JobView {
  std::string name;  // job_name
  JobState state = JobState::queued;
  std::string verdict;                             // JSON text, when done
  std::int64_t submitted_ms = 0, finished_ms = 0;  // since 1970
  // Why its verdict is in doubt, so that it is judged again (gpu_records.h); empty: it is not.
  std::string doubt = {};
};

// A verdict on its way to one client.
struct VerdictEvent {
  std::int64_t number = 0;  // grows
  std::string job;
  std::string verdict;  // JSON text
};

// A program that submits jobs, and the limit of its unfinished jobs. A job counts for the
// submitter that was the first to submit it.
struct Submitter {
  std::string name;    // empty: nobody in particular
  int unfinished = 0;  // 0: no limit but that of the store
};

// The jobs would not fit: into the store, or into the share of one submitter.
struct JobStoreFull {
  int unfinished = 0, limit = 0;
  std::string submitter;  // empty: the store itself is full
};

// One of the submissions bears the name of a client that has left.
struct ClientGone {
  std::string client;
};

// How long a worker holds the jobs that it takes. The span begins now, by the store's clock, since
// the clocks of hosts differ. A worker that is alive renews its lease well before the end.
struct Lease {
  std::string worker;  // never empty; unique among the workers of a store
  Milliseconds span = std::chrono::seconds(60);
  // The classes of devices that the worker judges on (JudgeJob::device). It gets no job that needs
  // another one. Empty: it gets every job.
  std::vector<std::string> devices = {};
  // The UUIDs of the GPUs on which the worker judges. While one of them is in quarantine, it gets no
  // job (gpu_records.h).
  std::vector<std::string> gpus = {};
};

struct ConcludedJob {
  std::string name;
  Verdict verdict;
  std::string gpu = {};  // the UUID of the GPU that ran its plan; empty: none did
};

// A worker's report about itself. It sends one with each heartbeat.
struct WorkerView {
  std::string name;                  // that of its lease
  std::string host;                  // the machine's name
  std::string role = "all";          // "all"; "judge" or "capture": it does one half of the work
  std::vector<std::string> devices;  // classes of devices that it judges on; see Lease::devices
  std::vector<std::string> gpus;     // the UUIDs of the GPUs that it judges on
  int at_once = 0;                   // jobs that it takes at a time
  int running = 0;                   // jobs that it has
  std::string version;               // the versions that decide its verdicts
  std::string trouble;               // why it takes no jobs, in one line; empty while it does
  std::int64_t seen_ms = 0;          // the time of its last heartbeat, by the store's clock
};

struct JobCounts {
  std::map<api::Priority, int> queued;  // has every priority
  int running = 0;
  int limit = 0;                       // of all unfinished jobs
  std::int64_t repeated_verdicts = 0;  // dropped, because their job had one already
  int quarantined_gpus = 0;            // gpu_records.h
  std::int64_t judged_again = 0;       // jobs whose verdict was in doubt, and that have another one
};

class JobStore {
 public:
  using Submitted = std::variant<std::vector<JobView>, JobStoreFull, ClientGone>;

  virtual ~JobStore() = default;

  // Doors call these.
  //
  // Takes all of them or none. Jobs whose verdict is known come back done and need no room.
  virtual Result<Submitted> submit(std::span<const api::Submission> submissions,
                                   const Submitter& submitter) = 0;
  virtual Result<std::optional<JobView>> find(const std::string& name) = 0;
  // Tells that `client` does not want the job any more. Returns whether the job is cancelled, which
  // it is if nobody else wants it.
  virtual Result<bool> cancel(const std::string& name, const std::string& client) = 0;
  // Cancels everything unfinished that the client wanted.
  virtual Status cancel_all(const std::string& client) = 0;
  // Does the same for good: refuses submissions that come later under the client's name. A
  // request may arrive after its client gave up waiting for it and left.
  virtual Status dismiss(const std::string& client) = 0;
  // Returns the client's verdicts with numbers above `after`, in order.
  virtual Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                                   int limit) = 0;
  // Returns how many verdicts the client has yet to get.
  virtual Result<std::int64_t> awaited_by(const std::string& client) = 0;
  // Numbers of events mean something within one epoch: the life of one store.
  virtual const std::string& epoch() const = 0;
  // Remembers a name that its submitter gave a job (KernelGYM's task_id). The newest counts.
  virtual Status remember_alias(const std::string& alias, const std::string& name) = 0;
  // Returns the job's name, or nothing ("") for an unknown alias.
  virtual Result<std::string> find_alias(const std::string& alias) = 0;
  virtual Result<JobCounts> counts() const = 0;

  // Workers call these.
  //
  // Concludes queued jobs whose verdict is known from elsewhere, whatever their turn.
  virtual Status recall_queued() = 0;
  // Takes the most urgent queued jobs, or jobs whose lease has ended, at most so many. They run from
  // now on. A worker that asks is alive, so its own leases are renewed first. Large jobs may come in
  // several calls.
  virtual Result<std::vector<api::Submission>> take(const Lease& lease, int most) = 0;
  // The worker's heartbeat: prolongs its hold on all jobs that it still has.
  virtual Status renew(const Lease& lease) = 0;
  // Writes verdicts down, all in one commit. Jobs that are not unfinished any more are passed over.
  virtual Status conclude(const std::string& worker, std::span<const ConcludedJob> concluded) = 0;
  // Queues a job again that the worker has and could not judge, before those that came later. Where
  // the store cannot be reached, the end of the lease does the same.
  virtual void give_back(const std::string& worker, const std::string& name) = 0;
  // Returns jobs that the worker need not judge any more, since its last call: cancelled ones, and
  // those that another worker concluded or took over.
  virtual Result<std::vector<std::string>> take_withdrawn(const std::string& worker) = 0;
  // Returns unfinished jobs whose deadline has passed.
  virtual Result<std::vector<api::Submission>> overdue() = 0;
  // Keeps the report of the lease's worker for as long as the lease spans. The store itself sets
  // `name` and `seen_ms`.
  virtual Status announce(const Lease& lease, const WorkerView& worker) = 0;
  // The worker ends in good order: it has given back or concluded all its jobs.
  virtual Status depart(const std::string& worker) = 0;

  // Both call these.
  //
  virtual GpuRecords& gpus() = 0;
  // Returns the workers whose announcement still holds, by name.
  virtual Result<std::vector<WorkerView>> workers() const = 0;
  // Returns a number that grows with every change.
  virtual std::uint64_t changes() const = 0;
  // Waits until there is a change after the state that `seen` (from changes()) counts.
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
