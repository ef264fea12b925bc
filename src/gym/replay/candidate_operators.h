// Lists the ATen operators that a candidate's plan may run in the referee's process. A plan may
// name any operator with any arguments. Many operators of LibTorch trust their arguments, for
// example indices to write at, or sizes that need not fit a tensor. Such an operator would let a
// plan read and write the referee's memory. A candidate may therefore use only operators that check
// their arguments (docs/plan.md). A task's own plan is trusted and may use every operator that the
// referee replays.
#pragma once

#include <string_view>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::replay {

// Takes the full name, "aten::add.Tensor". Of operators that write into given tensors (`out=`),
// only plain arithmetic and matrix products are allowed.
bool is_for_candidates(std::string_view full_name);

// Returns the first step, in any phase, whose operator a candidate may not use.
const plan::PlanStep* find_unsafe_step(const plan::Plan& candidate);

}  // namespace tritonsmith::gym::replay
