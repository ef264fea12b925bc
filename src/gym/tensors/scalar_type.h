// Converts the plan's dtypes to LibTorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include <string>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::tensors {

c10::ScalarType scalar_type_of(plan::DType dtype);
// PyTorch's name of a type in Python, for messages: "float16".
std::string type_name(c10::ScalarType type);

// Says whether a floating type holds this number, rounded, as a finite one.
// LibTorch's CUDA operators throw where a number is beyond its type; those of the CPU do not.
bool is_finite_in(c10::ScalarType type, double number);

}  // namespace tritonsmith::gym::tensors
