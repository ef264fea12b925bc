// Prepares a trial of the second call of forward. It runs both sides once on inputs that no one
// compares, so that anything that the first call leaves behind shows in the second. The candidate
// then takes over the reference's weights and buffers as they are after its first call.
#pragma once

#include "gym/trial/prepare.h"

namespace tritonsmith::gym::trial {

// Takes the sides that were prepared for the first call and returns them prepared for the second.
// If the trial ends here, the unexpected value is its result.
tl::expected<PreparedSides, TrialResult> prepare_later_call(Sides& sides, PreparedSides prepared);

}  // namespace tritonsmith::gym::trial
