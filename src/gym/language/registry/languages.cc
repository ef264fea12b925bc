#include "gym/language/registry/languages.h"

#include "base/check.h"
#include "gym/language/triton/triton_language.h"

namespace tritonsmith::gym::language {

const Language& language_of(plan::KernelLanguage language) {
  switch (language) {
    case plan::KernelLanguage::triton_ir:
      return triton::triton_language();
  }
  check_failed(__FILE__, __LINE__, "language_of", "a kernel language without a row");
}

// There is one language so far, so its executors run all kernels.
std::unique_ptr<KernelExecutor> make_cpu_executor(FreeBytes free_bytes) {
  return triton::triton_language().make_cpu_executor(std::move(free_bytes));
}

std::unique_ptr<GpuExecutor> make_gpu_executor(const cuda::Driver& driver) {
  return triton::triton_language().make_gpu_executor(driver);
}

}  // namespace tritonsmith::gym::language
