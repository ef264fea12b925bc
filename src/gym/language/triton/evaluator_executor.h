// Makes the executor that runs launches in the evaluator. It keeps parsed kernels by their text.
// `free_bytes` limits what a launch may allocate beside its buffers.
#pragma once

#include <memory>

#include "gym/language/language.h"

namespace tritonsmith::gym::language::triton {

std::unique_ptr<KernelExecutor> make_evaluate_executor(FreeBytes free_bytes);

}  // namespace tritonsmith::gym::language::triton
