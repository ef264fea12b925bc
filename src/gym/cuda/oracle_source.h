// The float64 oracle of a pointwise task as one kernel: where a task's forward is a chain or tree
// of elementwise operators over tensors of one shape, the exact values are computed from its inputs
// in registers, element by element, while candidate and reference are held against them
// (judging_source.cc). LibTorch's own float64 operators would write each intermediate tensor, in
// twice the width, to memory. Pure text; any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::cuda {

struct OracleSource {
  std::string source;       // CUDA C++ with the kernel kOracleKernel; equal for equal forwards
  std::vector<int> leaves;  // the plan's tensors that it reads, in the order of its parameters
};
inline constexpr const char* kOracleKernel = "judge_fused";

// None where forward is anything else: other operators, shapes or strides, several outputs,
// launches, operators that write in place.
std::optional<OracleSource> oracle_source(const plan::Plan& task);

}  // namespace tritonsmith::gym::cuda
