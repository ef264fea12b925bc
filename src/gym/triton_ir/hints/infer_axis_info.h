// Concludes what holds of an operation's result from what holds of its operands, by Triton's rules.
// Operations without a rule give a result of which nothing is known. Pure.
#pragma once

#include <span>

#include "gym/triton_ir/hints/axis_info.h"

namespace tritonsmith::gym::triton_ir {

// The type of an operation's first result as far as its shape goes. Null if none is written.
const ValueType* shape_type_of(const Operation& operation);

// `operands` has an entry for each operand of the operation. It knows nothing of its hints.
AxisInfo infer_axis_info(const Operation& operation, std::span<const AxisInfo> operands);

}  // namespace tritonsmith::gym::triton_ir
