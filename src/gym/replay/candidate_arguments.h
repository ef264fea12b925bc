// Checks candidates' operator arguments where the operators do not check them. Without these
// checks an operator could read or write outside its tensors.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>

#include "base/error.h"

namespace tritonsmith::gym::replay {

// Fails if the operator may not run with these arguments. `stack` holds all of them, in the order
// of its schema.
Status check_candidate_arguments(const c10::FunctionSchema& schema, const torch::jit::Stack& stack);

// Tells whether an argument is a tensor of more than 2^34 elements. A view may have far more
// elements than there is memory, and an operator visits all of them.
bool has_endless_view(const torch::jit::Stack& stack);

}  // namespace tritonsmith::gym::replay
