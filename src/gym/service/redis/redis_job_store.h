// RedisJobStore: the JobStore of many hosts, on one Redis server. Any number of API servers and
// workers share it. None of them has state of its own, so the others go on if one dies. Redis runs
// each call as one script (redis_scripts.h), so no two programs see each other's half-done changes.
//
// The queue is a sorted set, and leases are another one. Redis Streams would serve a plain queue,
// but a stream's entries keep their position: a job that becomes more urgent, is cancelled or is
// given back could not change its own.
//
// An acknowledged job survives a crash of Redis if the server writes each command to disk
// (appendonly yes, appendfsync always). open() warns when it does not.
#pragma once

#include <atomic>

#include "gym/service/job_store.h"
#include "gym/service/redis/change_listener.h"
#include "gym/service/redis/held_jobs.h"
#include "gym/service/redis/redis_client.h"
#include "gym/service/redis/redis_gpu_records.h"
#include "gym/service/redis/redis_job_aliases.h"
#include "gym/service/redis/redis_worker_reports.h"
#include "gym/service/redis/verdict_seal.h"

namespace tritonsmith::gym::service {

// The event of wait_for_change: a worker waits for queued jobs, an API server for jobs that ended.
enum class WaitsFor { both, work, verdicts };

struct RedisJobStoreConfig {
  RedisAddress address;
  // All keys begin with it. The braces keep them on one node of a cluster.
  std::string prefix = "{tritonsmith}:";
  JobStoreLimits limits;
  // The versions of the judge, torch and Triton, which decide verdicts too. A verdict of another
  // version does not answer a job.
  std::string version;
  // A call tries again for so long while the server is away.
  Milliseconds patience = std::chrono::seconds(15);
  WaitsFor waits_for = WaitsFor::both;
  RecallVerdict recall;
  // This key seals the verdicts that this program writes. The program refuses verdicts without its
  // seal. Empty: verdicts have no seal.
  std::string verdict_key;
  std::function<std::int64_t()> now;  // for tests; without it the server's clock counts
};

class RedisJobStore : public JobStore {
 public:
  // Fails when the server cannot be reached within the patience, or refuses the sign-in.
  static Result<std::unique_ptr<RedisJobStore>> open(RedisJobStoreConfig config);

  // The server, for messages.
  std::string location() const { return config_.address.name(); }

  Result<Submitted> submit(std::span<const api::Submission> submissions,
                           const Submitter& submitter) override;
  Result<std::optional<JobView>> find(const std::string& name) override;
  Result<bool> cancel(const std::string& name, const std::string& client) override;
  Status cancel_all(const std::string& client) override;
  Status dismiss(const std::string& client) override;
  Result<std::vector<VerdictEvent>> events(const std::string& client, std::int64_t after,
                                           int limit) override;
  Result<std::int64_t> awaited_by(const std::string& client) override;
  const std::string& epoch() const override { return epoch_; }
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
  std::uint64_t changes() const override { return listener_.changes(); }
  void wait_for_change(std::uint64_t seen, Deadline deadline) const override {
    listener_.wait_for_change(seen, deadline);
  }
  void notify() override { listener_.count_change(); }

 private:
  explicit RedisJobStore(RedisJobStoreConfig config);

  RedisJobStoreConfig config_;
  mutable RedisClient client_;
  RedisGpuRecords gpus_;
  RedisJobAliases aliases_;
  RedisWorkerReports reports_;
  ChangeListener listener_;
  VerdictSeal seal_;
  std::string epoch_;
  std::atomic<std::uint64_t> tickets_ = 0;
  HeldJobs held_;
};

}  // namespace tritonsmith::gym::service
