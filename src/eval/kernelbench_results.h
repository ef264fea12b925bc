// Writes verdicts in the form of KernelBench's eval_results.json, which its own analysis reads:
//   {"PROBLEM": [{"sample_id", "compiled", "correctness", "metadata", "runtime", "runtime_stats"}]}
// docs/evaluation.md says how our verdicts fill it. Pure functions.
#pragma once

#include <span>
#include <string>

#include "data/verdict.h"

namespace tritonsmith::eval {

// A verdict on one sample of a problem.
struct ProblemVerdict {
  int problem = 0, sample = 0;
  const Verdict* verdict = nullptr;
};

// Tells whether the verdict says anything about the kernel. A fault of the gym does not, and neither
// does a task that fails or is too large for this machine.
bool has_result(const Verdict& verdict);

// Returns the file of one level. Problems keep the order of `verdicts`: KernelBench's analysis
// pairs them with the times of its baselines by their position.
std::string kernelbench_results(std::span<const ProblemVerdict> verdicts);

}  // namespace tritonsmith::eval
