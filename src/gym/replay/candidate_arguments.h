// What the operators of candidate_operators.h do not check themselves, by operator: arguments with
// which they would read or write outside their tensors.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include "base/error.h"

namespace tritonsmith::gym::replay {

// `stack` holds the operator's arguments, all of them, in the order of its schema.
Status check_candidate_arguments(const c10::FunctionSchema& schema, const torch::jit::Stack& stack);

// Whether a tensor among them has more elements than 2^34: a view may have far more than there is
// memory, and an operator walks all of them.
bool has_endless_view(const torch::jit::Stack& stack);

}  // namespace tritonsmith::gym::replay
