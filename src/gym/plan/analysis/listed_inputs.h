// Finds inputs whose numbers stand as a list in the task's source. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// True for an input such as torch.tensor([0.25, 0.5, 0.25]). A table that operators made has
// structure, such as the equal halves of rotary angles.
bool is_list_in_source(const Plan& task, int input);

}  // namespace tritonsmith::gym::plan::analysis
