// A trial of the second call of forward. It runs both sides once on inputs that nobody looks at, so
// that whatever the first call leaves behind shows in the second. The reference's weights and
// buffers after its first call are then the candidate's too.
#pragma once

#include "gym/trial/prepare.h"

namespace tritonsmith::gym::trial {

// Takes the sides that were prepared for the first call and returns them prepared for the second.
// Where the trial ends here, the unexpected value is its result.
tl::expected<PreparedSides, TrialResult> prepare_later_call(Sides& sides, PreparedSides prepared);

}  // namespace tritonsmith::gym::trial
