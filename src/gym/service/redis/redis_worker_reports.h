// RedisWorkerReports: the WorkerReports of a RedisJobStore, on the same server. The store owns it.
#pragma once

#include <functional>

#include "gym/service/redis/redis_client.h"
#include "gym/service/worker_reports.h"

namespace tritonsmith::gym::service {

class RedisWorkerReports : public WorkerReports {
 public:
  // `now` is for tests; without it the server's clock counts.
  RedisWorkerReports(RedisClient& client, const std::function<std::int64_t()>& now)
      : client_(client), now_(now) {}

  Status announce(const Lease& lease, const WorkerView& worker) override;
  Status depart(const std::string& worker) override;
  Result<std::vector<WorkerView>> workers() const override;

 private:
  std::string time() const { return now_ ? std::to_string(now_()) : ""; }

  RedisClient& client_;
  const std::function<std::int64_t()>& now_;
};

}  // namespace tritonsmith::gym::service
