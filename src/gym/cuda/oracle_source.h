// Writes the float64 oracle of a pointwise task as one kernel. It applies if a task's forward is a
// chain or tree of elementwise operators over tensors of one shape. The kernel computes the exact
// values from the inputs in registers, element by element, and compares candidate and reference
// with them at once (judging_source.cc). LibTorch's float64 operators would write each intermediate
// tensor to memory, in twice the width. Pure text; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::cuda {

struct OracleSource {
  std::string source;  // CUDA C++ with the kernel kOracleKernel; equal for equal forwards
  // The plan's tensors that the kernel reads, in the order of its parameters.
  std::vector<int> leaves;
};
inline constexpr const char* kOracleKernel = "judge_fused";

// Returns nothing for any other forward: other operators, shapes or strides, several outputs,
// launches, or operators that write in place.
std::optional<OracleSource> oracle_source(const plan::Plan& task);

}  // namespace tritonsmith::gym::cuda
