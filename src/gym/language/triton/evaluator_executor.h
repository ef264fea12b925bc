// Makes the executor that runs launches with the evaluator of Triton IR. It keeps parsed kernels by
// their text.
#pragma once

#include <memory>

#include "gym/language/kernel_executor.h"

namespace tritonsmith::gym::language::triton {

std::unique_ptr<KernelExecutor> make_evaluate_executor();

}  // namespace tritonsmith::gym::language::triton
