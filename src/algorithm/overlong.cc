#include "algorithm/overlong.h"

#include "base/check.h"

namespace tritonsmith::algorithm {

double overlong_penalty(std::int64_t length, FinishReason finish, std::int64_t limit,
                        std::int64_t cache) {
  CHECK(0 < cache && cache <= limit, "a cache of {} tokens within a limit of {}", cache, limit);
  if (finish != FinishReason::stop || length > limit) return -1;
  const std::int64_t over = length - (limit - cache);
  return over <= 0 ? 0 : -static_cast<double>(over) / static_cast<double>(cache);
}

}  // namespace tritonsmith::algorithm
