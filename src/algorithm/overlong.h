// Soft overlong punishment (DAPO, arXiv 2503.14476, eq. 13): completions that come near the limit
// lose up to 1, so that the cut does not come out of the blue:
//   0                                    length <= limit - cache
//   (limit - cache - length) / cache     up to the limit
//   -1                                   beyond it, and where the completion was cut
// Pure.
#pragma once

#include <cstdint>

#include "data/completion.h"

namespace tritonsmith::algorithm {

// In tokens; needs 0 < cache <= limit.
double overlong_penalty(std::int64_t length, FinishReason finish, std::int64_t limit,
                        std::int64_t cache);

}  // namespace tritonsmith::algorithm
