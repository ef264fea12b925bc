// Compiles the referee's own GPU kernels. The program holds them as CUDA C++. When a referee
// starts, NVRTC, which comes with torch's wheel, compiles them for its GPU. So the build needs no
// CUDA compiler.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::cuda {

// Return the kernels' source (device_source.cc), and the parts of it that kernels made for one task
// share (judging_source.cc).
std::string device_source();
std::string_view common_source();
std::string_view judging_source();
// Returns the rule of the budget, made from the constants of compare/tolerance_rules.h.
std::string tolerance_source();

// Compiles CUDA C++ to a cubin. `nvrtc` is the library's path or name, and `target` is a name like
// "sm_90". Fails with the compiler's message. Any thread may call it.
Result<std::string> compile_source(const std::string& nvrtc, std::string_view target,
                                   const std::string& source);
Result<std::string> compile_device_source(const std::string& nvrtc, std::string_view target);

// Returns the path of the NVRTC in torch's wheel, found from the path of torch's CUDA library. If
// there is none, it returns the library's plain name.
std::string nvrtc_beside(const std::string& torch_library);

}  // namespace tritonsmith::gym::cuda
