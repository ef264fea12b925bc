// Computes an evaluation's numbers from verdicts. The functions are pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/evaluation.h"
#include "data/verdict.h"

namespace tritonsmith::eval {

// Estimates the probability that at least one of k samples is correct, if c of n samples were. The
// unbiased estimate is 1 - C(n-c, k) / C(n, k), computed as a product (Chen et al. 2021,
// arXiv:2107.03374, eq. 1). Requires 1 <= k <= n and 0 <= c <= n.
double pass_at_k(int n, int c, int k);

// Returns the shares of verdicts that compiled, were correct, were accepted. Without verdicts all
// are 0.
Rates rates_of(std::span<const Verdict> verdicts);

// Accepted and more than p times as fast as the reference (strictly, as in KernelBench).
bool is_fast(const Verdict& verdict, double p);

// Counts the verdicts with each error class and with each rule of a rejecting finding.
void count_failures(std::span<const Verdict> verdicts, Evaluation& evaluation);

// The turns of one conversation. With one turn it is a single verdict.
struct Conversation {
  std::vector<Verdict> verdicts;  // at least one
  std::vector<int> tokens;        // tokens written in each turn

  const Verdict& last() const { return verdicts.back(); }
};

// Tells whether b is better than a: first accepted, then faster, then a later stage.
bool is_better(const Verdict& b, const Verdict& a);

// The conversations of one task: one greedy, if there is one, the others sampled.
struct TaskVerdicts {
  std::string id, level;
  std::vector<std::string> marks;  // rules of the task linter's findings
  std::optional<Conversation> greedy;
  std::vector<Conversation> sampled;
};

// Returns the findings about the task itself: a wrong answer would pass, or an input is ignored
// (gym/referee/lint.h).
std::vector<std::string> marks_in(std::span<const Finding> findings);

// Returns the seconds of judging, or 0 if the verdict came from a store.
double judge_seconds(const Verdict& verdict);

// Returns KernelBench's "level1" for "level1/19_ReLU". For other ids it returns the family or the
// suite.
std::string level_of(std::string_view task_id, std::string_view family, std::string_view suite);

// Removes the times that were not measured on the GPU that timed most kernels. Returns what was
// removed, in words: "3 on NVIDIA A100".
std::string keep_times_of_one_device(std::span<TaskVerdicts> tasks);

// Fills the evaluation: tasks, samples, rates, pass@k and fast_p@k for k = 1, 2, 4, ... up to the
// number of samples, speed, failures and costs. It also fills these numbers by level, turn and
// task, and for the tasks without marks. Either every task has a greedy conversation or none.
// Numbers that are not by turn describe each conversation's
// last turn.
void summarise(std::span<const TaskVerdicts> tasks, Evaluation& evaluation);

}  // namespace tritonsmith::eval
