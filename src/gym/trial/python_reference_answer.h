// Puts the Python reference's answer into a trial. The Python reference runs forward of a task
// whose plan lacks it. Its outputs are then treated as if the plan had made them.
#pragma once

#include <optional>

#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Asks the Python reference for the outputs of forward on the tensors that the reference holds now.
// The answer replaces `sides.answered`. Callable only if the sides' reference does not replay.
std::optional<replay::Stop> ask_python_reference(Sides& sides);

}  // namespace tritonsmith::gym::trial
