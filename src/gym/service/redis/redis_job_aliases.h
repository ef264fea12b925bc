// RedisJobAliases: the JobAliases of a RedisJobStore, on the same server. The store owns it.
#pragma once

#include "gym/service/job_aliases.h"
#include "gym/service/redis/redis_client.h"

namespace tritonsmith::gym::service {

class RedisJobAliases : public JobAliases {
 public:
  explicit RedisJobAliases(RedisClient& client) : client_(client) {}
  Status remember(const std::string& alias, const std::string& name) override;
  Result<std::string> find(const std::string& alias) override;

 private:
  RedisClient& client_;
};

}  // namespace tritonsmith::gym::service
