// Finds out whether PyTorch alone has computed what a candidate returns. Its kernels then only pass
// on, or undo and do again, what PyTorch has made.
#pragma once

#include "gym/replay/launch_trace.h"
#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Says whether each output of the reference stands among the tensors that the candidate's
// forward computed by PyTorch's operators from no kernel's result: within the tolerance, in any
// floating type, and in any order of elements unless the task itself orders elements by values. An
// input that PyTorch recomputes from a kernel's result counts as computed from no kernel's result.
// False if the task's own forward only arranges, for then PyTorch need not compute anything. Both
// sides must have run.
bool torch_made_outputs(const Sides& sides, const replay::LaunchTraces& launches);

}  // namespace tritonsmith::gym::trial
