// Lists the kernel languages. A new language adds its row in languages.cc. The executors here run
// the kernels of all languages. While Triton is the only one, they are Triton's own.
#pragma once

#include <memory>

#include "gym/language/language.h"

namespace tritonsmith::gym::language {

const Language& language_of(plan::KernelLanguage language);
inline const Language& language_of(const plan::PlanKernel& kernel) {
  return language_of(kernel.language);
}

std::unique_ptr<KernelExecutor> make_cpu_executor(FreeBytes free_bytes);
std::unique_ptr<GpuExecutor> make_gpu_executor(const cuda::Driver& driver);

}  // namespace tritonsmith::gym::language
