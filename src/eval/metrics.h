// Pure functions from verdicts to the numbers that an evaluation reports.
#pragma once

#include <span>
#include <string>
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

// Accepted and more than p times as fast as the reference (KernelBench's strict >).
bool is_fast(const Verdict& verdict, double p);

// What went wrong most: error classes, and rules of findings that reject, with how many verdicts
// carry each.
void count_failures(std::span<const Verdict> verdicts, Evaluation& evaluation);

// The turns of one conversation; with one turn a single verdict.
struct Conversation {
  std::vector<Verdict> verdicts;  // at least one
  std::vector<int> tokens;        // written in each turn

  const Verdict& last() const { return verdicts.back(); }
};

// Whether b is worth more than a: accepted, then faster, then further.
bool is_better(const Verdict& b, const Verdict& a);

// The conversations of one task: the greedy one and the sampled ones.
struct TaskVerdicts {
  std::string id, level;
  std::vector<std::string> marks;  // rules of the task linter's findings
  Conversation greedy;
  std::vector<Conversation> sampled;
};

// What the findings have against the task itself: that something which is no solution would pass
// for one, or that an input is ignored (gym/referee/lint.h).
std::vector<std::string> marks_in(std::span<const Finding> findings);

// What judging took; 0 where the verdict came from a store.
double judge_seconds(const Verdict& verdict);

// KernelBench's "level1" from "level1/19_ReLU", else what else is known of the task.
std::string level_of(std::string_view task_id, std::string_view family, std::string_view suite);

// Fills tasks, samples, rates, pass@k and fast_p@k for k = 1, 2, 4, ... up to the number of
// samples, speed, failures, costs, and all of it by level, turn and task, and without tasks that
// have marks. What is not by turn is of each conversation's last turn.
void summarise(std::span<const TaskVerdicts> tasks, Evaluation& evaluation);

}  // namespace tritonsmith::eval
