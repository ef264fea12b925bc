// How a trial uses the Python reference's answer. The Python reference runs forward of a task
// whose plan lacks it; its outputs then stand as if the plan had made them.
#pragma once

#include <optional>

#include "gym/trial/sides.h"

namespace tritonsmith::gym::trial {

// Asks the Python reference what forward makes of the tensors that the reference holds now. The
// answer replaces `sides.answered`. Only for sides whose reference does not replay.
std::optional<replay::Stop> ask_python_reference(Sides& sides);

}  // namespace tritonsmith::gym::trial
