// What a candidate's plan may have LibTorch run in the referee's process. A plan names any operator
// with any arguments, and many of LibTorch's trust theirs: indices that a kernel writes by, sizes
// that need not fit a tensor. With one of those a plan reads and writes the memory of whoever
// judges it. So a candidate has only operators that were found to check what they are given
// (docs/plan.md); a task's own plan, which is trusted, has all that replay.
#pragma once

#include <string_view>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::operators {

// Of operators in full, "aten::add.Tensor". Into tensors that are given (`out=`) only plain
// arithmetic and matrix products write.
bool is_for_candidates(std::string_view full_name);

// The first step, in any phase, that is not for candidates.
const PlanStep* find_unsafe_step(const Plan& candidate);

}  // namespace tritonsmith::gym::plan::operators
