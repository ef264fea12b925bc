// SqliteJobTable: the jobs of a SqliteJobStore as rows, and which client wants which. The store holds
// its lock and begins the transactions around each call.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/sqlite.h"
#include "gym/service/job_store.h"
#include "gym/service/sqlite_gpu_records.h"
#include "gym/service/unfinished_jobs.h"

namespace tritonsmith::gym::service {

class SqliteJobTable {
 public:
  // The GPU records know which verdicts are in doubt. The table forgets there what it forgets itself.
  SqliteJobTable(const Sqlite& database, SqliteGpuRecords& gpus)
      : database_(database), gpus_(gpus) {}
  // Begins a new run of the program. Returns the jobs that an earlier run left queued.
  Result<std::vector<std::pair<std::string, UnfinishedJob>>> load();
  const std::string& epoch() const { return epoch_; }

  struct Row {
    JobView view;
    bool is_settled = false;  // this run concluded it, and no fault of the gym decided
  };
  Result<std::optional<Row>> read(const std::string& name) const;
  Result<api::Submission> submission_of(const std::string& name) const;

  // Inserts a queued job, and sets the entry's sequence.
  Result<JobView> enter_queued(const std::string& name, const api::Submission& submission,
                               UnfinishedJob& entry, std::int64_t now_ms);
  Result<JobView> enter_done(const std::string& name, const api::Submission& submission,
                             const Verdict& verdict, std::int64_t now_ms);
  // Writes the entry's priority and deadline.
  Status update(const std::string& name, const UnfinishedJob& entry);
  Status conclude(const ConcludedJob& concluded, std::int64_t now_ms);
  Status cancel(const std::string& name, std::int64_t now_ms);
  // Marks a finished job as queued. Returns nothing for a job that is not finished.
  Result<std::optional<UnfinishedJob>> queue_again(const std::string& name);
  // Forgets the oldest finished jobs beyond `kept`. It looks at many rows, so it does so seldom.
  Status forget_old(int kept);

  // If the job is done, the client gets its verdict at once.
  Status want(const std::string& client, const std::string& name, bool is_done);
  // The client no longer wants the job. Returns whether another one does.
  Result<bool> unwant(const std::string& client, const std::string& name);
  // Returns the jobs without a verdict that the client wants.
  Result<std::vector<std::string>> wanted_by(const std::string& client) const;
  Result<std::int64_t> awaited_by(const std::string& client) const;  // how many these are
  Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                           int limit) const;

 private:
  Status write_last_event();

  const Sqlite& database_;
  SqliteGpuRecords& gpus_;
  std::string epoch_;
  std::int64_t run_ = 0;  // counts the programs that opened this file
  std::int64_t last_event_ = 0;
  std::int64_t concluded_since_cleaning_ = 0;
};

}  // namespace tritonsmith::gym::service
