// SqliteJobStore: the embedded JobStore, in one SQLite file of one program. Each submission is on
// disk before it is acknowledged. The queue, the leases and the farewells are in memory: a job that
// was running when the program ended is queued again at the next start.
#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "base/sqlite.h"
#include "base/utc_time.h"
#include "gym/service/job_store.h"
#include "gym/service/local_worker_reports.h"
#include "gym/service/sqlite_gpu_records.h"
#include "gym/service/sqlite_job_aliases.h"
#include "gym/service/sqlite_job_table.h"
#include "gym/service/unfinished_jobs.h"

namespace tritonsmith::gym::service {

class SqliteJobStore : public JobStore {
 public:
  using UnixMilliseconds = std::function<std::int64_t()>;

  static Result<std::unique_ptr<SqliteJobStore>> open(const std::filesystem::path& file,
                                                      const JobStoreLimits& limits,
                                                      RecallVerdict recall = {},
                                                      UnixMilliseconds now = unix_milliseconds);

  Result<Submitted> submit(std::span<const api::Submission> submissions,
                           const Submitter& submitter) override;
  Result<std::optional<JobView>> find(const std::string& name) override;
  Result<bool> cancel(const std::string& name, const std::string& client) override;
  Status cancel_all(const std::string& client) override;
  Status dismiss(const std::string& client) override;
  Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                           int limit) override;
  Result<std::int64_t> awaited_by(const std::string& client) override;
  const std::string& epoch() const override { return table_.epoch(); }
  Result<JobCounts> counts() const override;

  Status recall_queued() override;
  Result<std::vector<api::Submission>> take(const Lease& lease, int most) override;
  Status renew(const Lease& lease) override;
  Status conclude(const std::string& worker, std::span<const ConcludedJob> concluded) override;
  void give_back(const std::string& worker, const std::string& name) override;
  Result<std::vector<std::string>> take_withdrawn(const std::string& worker) override;
  Result<std::vector<api::Submission>> overdue() override;

  GpuRecords& gpus() override { return gpus_; }
  JobAliases& aliases() override { return aliases_; }
  WorkerReports& reports() override { return reports_; }
  std::uint64_t changes() const override;
  void wait_for_change(std::uint64_t seen, Deadline deadline) const override;
  void notify() override;

 private:
  SqliteJobStore(std::unique_ptr<Sqlite> database, JobStoreLimits limits, RecallVerdict recall,
                 UnixMilliseconds now)
      : database_(std::move(database)),
        limits_(limits),
        recall_(std::move(recall)),
        now_(std::move(now)),
        gpus_({.database = *database_,
               .mutex = mutex_,
               .now = now_,
               .queue_again = [this](const std::string& name) { return table_.queue_again(name); },
               .enter = [this](const std::string& name,
                               UnfinishedJob entry) { unfinished_.enter(name, std::move(entry)); },
               .changed = [this] { changed(); }}),
        table_(*database_, gpus_),
        aliases_(*database_, mutex_),
        reports_(now_) {}
  // Requires the lock.
  void changed();

  std::unique_ptr<Sqlite> database_;
  JobStoreLimits limits_;
  RecallVerdict recall_;
  UnixMilliseconds now_;

  mutable std::mutex mutex_;  // guards the members below, and the database
  mutable std::condition_variable changed_;
  std::uint64_t changes_ = 0;
  UnfinishedJobs unfinished_;
  std::set<std::string> gone_;         // the last clients that have left
  std::deque<std::string> farewells_;  // the same, in order
  SqliteGpuRecords gpus_;
  SqliteJobTable table_;
  SqliteJobAliases aliases_;
  LocalWorkerReports reports_;
};

}  // namespace tritonsmith::gym::service
