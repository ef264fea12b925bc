// RedisGpuRecords: the GpuRecords of a RedisJobStore, on the same server. The store owns it.
#pragma once

#include "gym/service/gpu_records.h"
#include "gym/service/redis/redis_client.h"

namespace tritonsmith::gym::service {

class RedisGpuRecords : public GpuRecords {
 public:
  // `now` is for tests; without it the server's clock counts.
  RedisGpuRecords(RedisClient& client, const std::function<std::int64_t()>& now)
      : client_(client), now_(now) {}

  Result<Calibration> first_calibration(const std::string& gpu, const Calibration& now) override;
  Status vindicate(const std::string& gpu, Milliseconds age) override;
  Result<int> quarantine(const QuarantinedGpu& gpu) override;
  Result<bool> clear(const std::string& gpu, FirstCalibration first) override;
  Result<std::vector<QuarantinedGpu>> quarantined() const override;

 private:
  std::string time() const { return now_ ? std::to_string(now_()) : ""; }

  RedisClient& client_;
  const std::function<std::int64_t()>& now_;
};

}  // namespace tritonsmith::gym::service
