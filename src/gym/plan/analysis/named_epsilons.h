// Writes epsilons that an operator takes from the type of its input into the plan. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the plan with the number that rms_norm takes from float32, where the plan gives none. The same
// plan in float64 would otherwise compute with the epsilon of float64.
Plan with_named_epsilons(Plan task);

}  // namespace tritonsmith::gym::plan::analysis
