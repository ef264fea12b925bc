// Makes the executor that runs launches in the evaluator. It keeps parsed kernels by their text.
#pragma once

#include <memory>

#include "gym/language/kernel_executor.h"

namespace tritonsmith::gym::language::triton {

std::unique_ptr<KernelExecutor> make_evaluate_executor();

}  // namespace tritonsmith::gym::language::triton
