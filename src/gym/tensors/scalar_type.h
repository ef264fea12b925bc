// Converts the plan's dtypes to LibTorch's.
#pragma once

#include <c10/core/ScalarType.h>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::tensors {

c10::ScalarType scalar_type_of(plan::DType dtype);

}  // namespace tritonsmith::gym::tensors
