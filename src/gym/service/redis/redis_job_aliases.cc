#include "gym/service/redis/redis_job_aliases.h"

#include "gym/service/redis/redis_scripts.h"

namespace tritonsmith::gym::service {

Status RedisJobAliases::remember(const std::string& alias, const std::string& name) {
  TRY(client_.run(redis_scripts::kRememberAlias, {alias, name}));
  return ok();
}

Result<std::string> RedisJobAliases::find(const std::string& alias) {
  TRY_ASSIGN(const RedisReply reply, client_.run(redis_scripts::kFindAlias, {alias}));
  return reply.text();
}

}  // namespace tritonsmith::gym::service
