// Docket: the list of jobs that await judging, and of those that had their verdict, in one SQLite
// file. Whatever submit() has acknowledged outlives the process and the machine: a job that was
// being judged when the program died is judged again. Jobs are known by their content, so the same
// one submitted twice is judged once, and every client that wants a verdict gets it once, as a
// numbered event. Any thread; nothing here waits but wait_for_change.
//
//   queued -> (taken: running) -> done
//      \--> cancelled, when nobody wants it any more; submitted again, it is queued anew
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "base/sqlite.h"
#include "gym/api/submission.h"

namespace tritonsmith::gym::service {

enum class JobState { queued, running, done, cancelled };

struct JobStoreLimits {
  int unfinished = 10'000;  // more are refused
  int finished = 20'000;    // kept for those who ask later; beyond it the oldest are forgotten
};

struct JobView {
  std::string name;  // job_name
  JobState state = JobState::queued;
  std::string verdict;                             // JSON text, when done
  std::int64_t submitted_ms = 0, finished_ms = 0;  // since 1970
};

// A verdict on its way to one client.
struct VerdictEvent {
  std::int64_t number = 0;  // grows
  std::string job;
  std::string verdict;  // JSON text
};

// The jobs would not fit.
struct JobStoreFull {
  int unfinished = 0, limit = 0;
};

// One of them came under the name of a client that has left.
struct ClientGone {
  std::string client;
};

class JobStore {
 public:
  using UnixMilliseconds = std::function<std::int64_t()>;
  // The verdict on an equal job that somebody keeps elsewhere. Called from any thread.
  using Recall = std::function<std::optional<Verdict>(const api::JudgeJob&)>;

  static Result<std::unique_ptr<JobStore>> open(const std::filesystem::path& file,
                                                const JobStoreLimits& limits, Recall recall = {},
                                                UnixMilliseconds now = unix_milliseconds);
  static std::int64_t unix_milliseconds();

  // All of them or none. Those judged before, in this run of the program, or recalled, come back
  // done; they need no room.
  Result<std::variant<std::vector<JobView>, JobStoreFull, ClientGone>> submit(
      std::span<const api::Submission> submissions);
  Result<std::optional<JobView>> find(const std::string& name);
  // `client` does not want it any more. True when the job is cancelled, as nobody does.
  Result<bool> cancel(const std::string& name, const std::string& client);
  // Of everything unfinished that it wanted.
  Status cancel_all(const std::string& client);
  // The same for good: submissions under its name that come later are refused, until the program
  // ends. What a client sent and gave up waiting for may be read after its farewell.
  Status dismiss(const std::string& client);

  // Concludes what is queued and can be recalled now, whatever its turn.
  Status recall_queued();
  // The most urgent queued job, which is running from now on.
  Result<std::optional<api::Submission>> take();
  struct Concluded {
    std::string name;
    Verdict verdict;
  };
  // In one commit. Names that are not unfinished any more are passed over.
  Status conclude(std::span<const Concluded> concluded);
  // A job that could not be judged: queued again, before those that came later.
  void give_back(const std::string& name);
  // Unfinished jobs whose deadline has passed.
  Result<std::vector<api::Submission>> overdue();
  // Running jobs that were cancelled since the last call.
  std::vector<std::string> take_cancelled();

  // The client's verdicts with numbers above `after`, in order.
  Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                           int limit);
  // Verdicts that it has yet to get.
  Result<std::int64_t> awaited_by(const std::string& client);
  // Numbers of events mean something within one epoch: one file.
  const std::string& epoch() const { return epoch_; }

  // A name that its submitter gave a job (KernelGYM's task_id); newest first.
  Status remember_alias(const std::string& alias, const std::string& name);
  Result<std::string> find_alias(const std::string& alias);  // empty when unknown

  // Waits until something changed after the state that `seen` counts (from changes()).
  void wait_for_change(std::uint64_t seen, Deadline deadline) const;
  std::uint64_t changes() const;
  // Lets everybody go who waits.
  void notify();

  struct Counts {
    std::map<api::Priority, int> queued;
    int running = 0;
    int limit = 0;
  };
  Counts counts() const;

 private:
  struct Unfinished {
    api::Priority priority = api::Priority::normal;
    std::int64_t sequence = 0;
    std::int64_t deadline_ms = 0;  // 0: none
    bool running = false;
  };
  using QueuePosition = std::tuple<api::Priority, std::int64_t, std::string>;

  JobStore(std::unique_ptr<Sqlite> database, JobStoreLimits limits, Recall recall,
           UnixMilliseconds now)
      : database_(std::move(database)),
        limits_(limits),
        recall_(std::move(recall)),
        now_(std::move(now)) {}
  Status load();
  // What a batch changes, until it is committed.
  struct Admission {
    std::map<std::string, Unfinished> entries;
    int added = 0;
  };
  struct Row {
    JobView view;
    std::int64_t run = 0;
    bool is_final = false;
  };
  Result<std::optional<Row>> read(const std::string& name);
  // A submission, and what was recalled of it.
  struct Offer {
    const api::Submission& submission;
    std::string name;
    std::optional<Verdict> recalled;
  };
  Result<JobView> submit_one(const Offer& offer, Admission& admission);
  Result<JobView> enter_recalled(const Offer& offer);
  Status want(const std::string& client, const std::string& name, bool is_done);
  Status conclude_one(const Concluded& concluded);
  Status forget_old();
  Result<api::Submission> submission_of(const std::string& name);
  Result<std::optional<api::Submission>> queued_submission(const std::string& name);
  void enter(const std::string& name, const Unfinished& entry);
  void leave(const std::string& name);
  void changed();

  std::unique_ptr<Sqlite> database_;
  JobStoreLimits limits_;
  Recall recall_;
  UnixMilliseconds now_;
  std::string epoch_;
  std::int64_t run_ = 0;  // of the program over this file

  mutable std::mutex mutex_;  // guards all below, and the database
  mutable std::condition_variable changed_;
  std::uint64_t changes_ = 0;
  std::int64_t last_event_ = 0;
  std::int64_t concluded_since_cleaning_ = 0;
  std::map<std::string, Unfinished> unfinished_;
  std::set<QueuePosition> queue_;
  std::set<std::pair<std::int64_t, std::string>> deadlines_;
  std::vector<std::string> cancelled_running_;
  std::set<std::string> gone_;         // clients that have left; the last so many of them
  std::deque<std::string> farewells_;  // the same, in order
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
