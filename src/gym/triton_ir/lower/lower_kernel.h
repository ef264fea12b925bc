// Lowers a parsed kernel to code that the evaluator executes.
#pragma once

#include "gym/triton_ir/lower/lowering.h"

namespace tritonsmith::gym::triton_ir {

struct LoweredKernel {
  std::unique_ptr<const Code> code;  // null where `refusal` is set
  std::optional<Refusal> refusal;    // the evaluator does not support an operation
};

// Returns an Error for malformed IR.
Result<LoweredKernel> lower_kernel(const Module& module, const Function& kernel);

}  // namespace tritonsmith::gym::triton_ir
