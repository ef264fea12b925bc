// Converts a plan's values to the arguments of LibTorch's dispatcher. The operator's schema gives
// the types and defaults, and devices change to the device of the replay. A value that does not fit
// the schema is an Error, because the plan is wrong.
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/stack.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include "gym/plan/plan.h"
#include "gym/tensors/scalar_type.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::replay {

// The floating dtypes that arguments name: as written, or all float64 for the oracle's replay.
enum class Precision { as_written, float64 };

// The precision and the device that replace those in the arguments.
struct Reading {
  Precision precision = Precision::as_written;
  c10::Device device = c10::kCPU;
  bool rounds_numbers = false;  // numbers are those that float32 holds
};

// Returns all arguments of the operator, in the order of its schema.
Result<torch::jit::Stack> operator_stack(const c10::FunctionSchema& schema,
                                         const plan::AtenCall& call,
                                         const tensors::TensorTable& tensors,
                                         const Reading& reading);

}  // namespace tritonsmith::gym::replay
