// Computes the soft overlong punishment (DAPO, arXiv 2503.14476, eq. 13). A completion near the
// length limit loses up to 1, so that the penalty grows gradually:
//   0                                    length <= limit - cache
//   (limit - cache - length) / cache     from there up to the limit
//   -1                                   beyond the limit, or if the completion was cut
// The function is pure.
#pragma once

#include <cstdint>

#include "data/completion.h"

namespace tritonsmith::algorithm {

// All lengths are in tokens; requires 0 < cache <= limit.
double overlong_penalty(std::int64_t length, FinishReason finish, std::int64_t limit,
                        std::int64_t cache);

}  // namespace tritonsmith::algorithm
