#include "eval/metrics.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace tritonsmith::eval {

double pass_at_k(int n, int c, int k) {
  CHECK(1 <= k && k <= n && 0 <= c && c <= n, "pass@{} of {} right among {}", k, c, n);
  if (n - c < k) return 1;
  double all_wrong = 1;
  for (int i = n - c + 1; i <= n; ++i) all_wrong *= 1.0 - static_cast<double>(k) / i;
  return 1 - all_wrong;
}

Rates rates_of(std::span<const Verdict> verdicts) {
  if (verdicts.empty()) return {};
  const auto share = [&](auto holds) {
    return static_cast<double>(std::ranges::count_if(verdicts, holds)) /
           static_cast<double>(verdicts.size());
  };
  return {.compiled = share([](const Verdict& v) { return v.compiled; }),
          .correct = share([](const Verdict& v) { return v.correct; }),
          .accepted = share([](const Verdict& v) { return v.accepted; })};
}

void count_failures(std::span<const Verdict> verdicts, Evaluation& evaluation) {
  for (const Verdict& verdict : verdicts) {
    if (verdict.error) ++evaluation.errors[verdict.error->error_class];
    std::set<std::string> rules;  // a rule that fires twice still is one bad verdict
    for (const Finding& finding : verdict.findings)
      if (finding.severity == Severity::reject) rules.insert(finding.rule);
    for (const std::string& rule : rules) ++evaluation.findings[rule];
  }
}

void summarise(std::span<const TaskVerdicts> tasks, Evaluation& evaluation) {
  std::vector<Verdict> greedy, sampled;
  int samples = tasks.empty() ? 0 : static_cast<int>(tasks.front().sampled.size());
  for (const TaskVerdicts& task : tasks) {
    greedy.push_back(task.greedy);
    sampled.insert(sampled.end(), task.sampled.begin(), task.sampled.end());
    samples = std::min(samples, static_cast<int>(task.sampled.size()));
  }
  evaluation.tasks = static_cast<int>(tasks.size());
  evaluation.samples = samples;
  evaluation.greedy = rates_of(greedy);
  evaluation.sampled = rates_of(sampled);
  for (int k = 1; k <= samples; k *= 2) {
    double sum = 0;
    for (const TaskVerdicts& task : tasks) {
      const auto right = std::ranges::count_if(task.sampled, &Verdict::accepted);
      sum += pass_at_k(static_cast<int>(task.sampled.size()), static_cast<int>(right), k);
    }
    evaluation.pass_at[k] = sum / static_cast<double>(tasks.size());
  }
  count_failures(sampled, evaluation);
}

}  // namespace tritonsmith::eval
