// From a plan's values to what the dispatcher takes: each argument typed by the operator's schema,
// defaults filled in, devices rewritten to the one replayed on. A value that does not fit its
// schema is a mistake of the plan, hence an Error.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "gym/plan/plan.h"
#include "gym/tensors/scalar_type.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::replay {

// How floating dtypes named in arguments are understood: as they are, or all as float64 (the
// oracle's replay).
enum class Precision { as_written, float64 };

// What dtypes and devices in arguments become.
struct Reading {
  Precision precision = Precision::as_written;
  c10::Device device = c10::kCPU;
};

// The operator's whole stack of arguments, in the order of its schema.
Result<torch::jit::Stack> operator_stack(const c10::FunctionSchema& schema,
                                         const plan::AtenCall& call,
                                         const tensors::TensorTable& tensors,
                                         const Reading& reading);

}  // namespace tritonsmith::gym::replay
