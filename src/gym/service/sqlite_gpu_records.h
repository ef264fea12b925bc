// SqliteGpuRecords: the GpuRecords of a SqliteJobStore, in the same file. The store owns it, and
// lends it the database, the lock of both and the queue.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "base/sqlite.h"
#include "gym/service/gpu_records.h"
#include "gym/service/unfinished_jobs.h"

namespace tritonsmith::gym::service {

// The members that a SqliteJobStore lends to its SqliteGpuRecords.
struct SqliteJobStoreParts {
  const Sqlite& database;
  std::mutex& mutex;
  const std::function<std::int64_t()>& now;
  // These are called with the lock held. The first marks a finished job as queued, within a
  // transaction; it returns nothing for a job that is not finished. The second, after the commit,
  // puts it into the queue.
  std::function<Result<std::optional<UnfinishedJob>>(const std::string& job)> queue_again;
  std::function<void(const std::string& job, UnfinishedJob entry)> enter;
  std::function<void()> changed;
};

class SqliteGpuRecords : public GpuRecords {
 public:
  static const char* const kSchema;

  explicit SqliteGpuRecords(SqliteJobStoreParts store) : store_(std::move(store)) {}
  // Reads which GPUs are in quarantine.
  Status load();

  Result<Calibration> first_calibration(const std::string& gpu, const Calibration& now) override;
  Status vindicate(const std::string& gpu, Milliseconds age) override;
  Result<int> quarantine(const QuarantinedGpu& gpu) override;
  Result<bool> clear(const std::string& gpu, FirstCalibration first) override;
  Result<std::vector<QuarantinedGpu>> quarantined() const override;

  // The job store calls these with the lock held.
  //
  bool holds(const std::string& gpu) const { return held_.contains(gpu); }
  bool holds_any(const std::vector<std::string>& gpus) const {
    return std::ranges::any_of(gpus, [&](const std::string& gpu) { return holds(gpu); });
  }
  int size() const { return static_cast<int>(held_.size()); }
  std::int64_t judged_again() const { return judged_again_; }
  // Returns why the job's verdict is in doubt; empty if it is not.
  Result<std::string> doubt_about(const std::string& job) const;
  // A verdict of this GPU, or of none (""), concludes the job. It ends the doubt about it.
  Status note_verdict(const std::string& job, const std::string& gpu);
  // Forgets what it knows of a job, or of all jobs that the store has forgotten.
  Status forget(const std::string& job);
  Status forget_old();

 private:
  SqliteJobStoreParts store_;
  std::set<std::string> held_;  // the GPUs in quarantine
  std::int64_t judged_again_ = 0;
};

}  // namespace tritonsmith::gym::service
