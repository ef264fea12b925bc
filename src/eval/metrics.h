// Pure functions from verdicts to the rates that an evaluation reports.
#pragma once

#include <span>
#include <vector>

#include "data/evaluation.h"
#include "data/verdict.h"

namespace tritonsmith::eval {

// Unbiased estimate of the chance that at least one of k samples is right, when c of n drawn ones
// were: 1 - C(n-c, k) / C(n, k), computed as a product (Chen et al. 2021, arXiv:2107.03374, eq. 1).
// Needs 1 <= k <= n and 0 <= c <= n.
double pass_at_k(int n, int c, int k);

// The share of verdicts that compiled, were correct, were accepted. No verdicts give zeros.
Rates rates_of(std::span<const Verdict> verdicts);

// What went wrong most: error classes, and rules of findings that reject, with how many verdicts
// carry each.
void count_failures(std::span<const Verdict> verdicts, Evaluation& evaluation);

// The verdicts of one task: the greedy one and the sampled ones.
struct TaskVerdicts {
  Verdict greedy;
  std::vector<Verdict> sampled;
};

// Fills rates, pass@k for k = 1, 2, 4, ... up to the number of samples, failures, tasks, samples.
void summarise(std::span<const TaskVerdicts> tasks, Evaluation& evaluation);

}  // namespace tritonsmith::eval
