// The referee's own GPU kernels: CUDA C++ in the program, compiled for the very chip when a referee
// starts, by NVRTC, which comes with torch's wheel. Building the program so needs no CUDA compiler.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::cuda {

// The kernels' source (device_source.cc), and the parts of it that kernels made for one task share
// (judging_source.cc).
std::string device_source();
std::string_view common_source();
std::string_view judging_source();
// The budget's rule, made from the constants of compare/tolerance_rules.h.
std::string tolerance_source();

// `target` as "sm_90"; `nvrtc` the library's path or name. Gives a cubin. Any thread.
Result<std::string> compile_source(const std::string& nvrtc, std::string_view target,
                                   const std::string& source);
Result<std::string> compile_device_source(const std::string& nvrtc, std::string_view target);

// Where torch's wheel keeps NVRTC, told from where its CUDA library is; its plain name where it is
// not found there.
std::string nvrtc_beside(const std::string& torch_library);

}  // namespace tritonsmith::gym::cuda
