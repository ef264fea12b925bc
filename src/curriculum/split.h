// Split: which compositions are held out. The answer depends on the operators' classes alone, never
// on a seed or on how many tasks were asked for, so that every curriculum ever made agrees. A
// composition that is neither (it lies one operator from a held-out one) is used for nothing.
#pragma once

#include <optional>

#include "curriculum/expression.h"
#include "data/task.h"

namespace tritonsmith::curriculum {

// No training composition has the same operator classes as a held-out one, or all but one of them,
// or all and one more.
std::optional<TaskSplit> split_of(const Expression& tree);

bool is_held_out(const OperatorClasses& classes);

}  // namespace tritonsmith::curriculum
