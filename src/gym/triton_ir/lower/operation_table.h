// Looks up the function that lowers each operation of Triton IR. A new operation is a new row in
// operation_table.cc, a function in the source of its family, and, if it computes something new, a
// handler in gym/triton_ir/execute.
#pragma once

#include <string_view>

#include "gym/triton_ir/lower/lowering.h"

namespace tritonsmith::gym::triton_ir {

using LowerOperation = Status (*)(Lowering& lowering, const Operation& operation);

// Returns null for an operation that the evaluator does not have. The elementwise operations with
// one handler for each type have a table of their own: execute/elementwise.h.
LowerOperation find_lowering(std::string_view name);

// Says whether a GPU's threads meet at a barrier in this operation, since it moves elements between
// threads. Some do so only if several warps take part.
bool implies_barrier(std::string_view name);

}  // namespace tritonsmith::gym::triton_ir
