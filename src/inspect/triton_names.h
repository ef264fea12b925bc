// Knows the names by which a candidate's Python reaches Triton. Rules about kernels and about other
// people's code ask here. inductor.h has the names of the code that Inductor generates. Pure.
#pragma once

#include <array>
#include <string_view>

namespace tritonsmith::inspect {

// The package. A method of this name makes a kernel of a text: async_compile.triton("name", "text").
inline constexpr std::string_view kTriton = "triton";
// Triton's own variables of the environment begin with this.
inline constexpr std::string_view kTritonVariables = "TRITON_";

// Functions of Triton that call code in another language.
inline constexpr auto kTritonExterns = std::to_array<std::string_view>(
    {"triton.language.core.extern_elementwise", "triton.language.extern_elementwise",
     "triton.language.core.dispatch", "triton.language.extra.cuda.inline_asm"});

// Parts of Triton that build or load native code.
inline constexpr auto kTritonBinaries =
    std::to_array<std::string_view>({"triton.runtime.build", "triton._C"});
inline constexpr std::string_view kTritonCompiler = "triton.compiler";

// Tells whether a decorator of this name makes a function a kernel.
constexpr bool is_triton_jit(std::string_view path) {
  return path == "triton.jit" || path == "triton.runtime.jit" || path == "triton.runtime.jit.jit" ||
         path == "triton.runtime.JITFunction" || path == "triton.runtime.jit.JITFunction";
}

}  // namespace tritonsmith::inspect
