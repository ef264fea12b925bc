// Split: divides compositions into training and held-out ones. The answer depends on the operators'
// classes alone, not on a seed or on the number of tasks. All curricula therefore agree. A
// composition that lies one operator from a held-out one belongs to neither part and is not used.
#pragma once

#include <optional>

#include "curriculum/expression.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

// Returns nothing for an unused composition. A training composition never has the operator classes
// of a held-out one, nor these plus or minus one class.
std::optional<TaskSplit> split_of(const Expression& tree);

bool is_held_out(const OperatorClasses& classes);

}  // namespace tritonsmith::curriculum
