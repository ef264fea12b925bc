// Describes a verdict to users in a few lines of text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/verdict.h"

namespace tritonsmith::cli {

inline constexpr const char* kPolicyHelp =
    "What PyTorch may still compute: strict (nothing), fused (matmul, convolution, attention), "
    "open "
    "(anything, if a Triton kernel does real work)";

inline constexpr const char* kBackendHelp =
    "Where kernels run: replay (a GPU), evaluate (the CPU), auto (a GPU if there is one)";
inline constexpr const char* kComparisonHelp =
    "How values are compared: budget, or allclose (KernelBench's tolerance alone)";
inline constexpr const char* kStridesHelp =
    "How outputs must be laid out: any, or contiguous (wherever the reference's are)";

// All about one verdict. `untimed` is why correct kernels were not timed: "this machine has no
// GPU". `file` is that of the kernel, if it has one: it stands before the line of an error.
std::string judge_text(const Verdict& verdict, std::string_view untimed,
                       std::string_view file = "");

// Several verdicts on one task: a row each, by the name of the kernel's file, then how many are
// accepted.
std::string verdict_table(std::span<const Verdict> verdicts, std::span<const std::string> files,
                          std::string_view untimed);

}  // namespace tritonsmith::cli
