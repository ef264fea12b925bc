#include "report/samples.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "data/failure.h"
#include "report/highlight.h"
#include "report/html.h"
#include "report/verdict_facts.h"

namespace tritonsmith::report {
namespace {

constexpr int kAcceptedShown = 4;
constexpr std::size_t kFailuresShown = 8;  // with one sample each

std::string reward_table(const Sample& sample) {
  if (sample.reward.terms.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"term", "value", "weight", "earned"}};
  for (const RewardTerm& term : sample.reward.terms)
    rows.push_back({term.name, fmt::format("{:.3g}", term.value),
                    fmt::format("{:.3g}", term.weight),
                    fmt::format("{:.3f}", term.value * term.weight)});
  rows.push_back({"reward", "", "", fmt::format("{:.3f}", sample.reward.total)});
  rows.push_back({"advantage", "", "", fmt::format("{:+.3f}", sample.advantage)});
  return render_table(rows);
}

std::string label_of(const Sample& sample, bool is_training) {
  const std::string member = sample.member < 0 ? "greedy" : fmt::format("sample {}", sample.member);
  std::string label = is_training
                          ? fmt::format("step {}, group {}, {}", sample.step, sample.group, member)
                          : member;
  if (sample.turn > 0) label += fmt::format(", turn {}", sample.turn + 1);
  return label;
}

std::string render_sample(const Sample& sample) {
  const bool is_training = !sample.reward.terms.empty();
  const std::string label = label_of(sample, is_training);
  std::string head = fmt::format("{} <span class=\"quiet\">{}</span>{}", escape(sample.task_id),
                                 escape(label), badges(sample.verdict));
  if (is_training)
    head += fmt::format(" <span class=\"quiet\">reward {:.2f}, advantage {:+.2f}</span>",
                        sample.reward.total, sample.advantage);
  const int line = sample.verdict.error ? sample.verdict.error->line : 0;
  std::string body = fmt::format("{}{}", verdict_facts(sample.verdict), reward_table(sample));
  if (!sample.kernel.empty())
    body += fmt::format("<pre><code>{}</code></pre>\n", highlighted(sample.kernel, line));
  body += folded("Prompt", fmt::format("<pre class=\"text\">{}</pre>", escape(sample.prompt)));
  body += folded(fmt::format("Whole completion: {} tokens, ended by {}",
                             sample.completion.tokens.size(), name_of(sample.completion.finish)),
                 fmt::format("<pre class=\"text\">{}</pre>", escape(sample.completion.text)));
  return fmt::format("<details><summary>{}</summary><div>{}</div></details>\n", head, body);
}

// Shows tasks that verdicts mark as weak. Rewards for such tasks mean little.
std::string render_marked_tasks(const RunRecords& run) {
  std::set<std::string> tasks;
  std::map<std::string, std::set<std::string>> marks;
  for (const Sample& sample : run.samples) {
    tasks.insert(sample.task_id);
    for (const Finding& finding : sample.verdict.findings)
      if (finding.severity == Severity::warn && finding.rule.starts_with("task_"))
        marks[sample.task_id].insert(finding.rule);
  }
  if (marks.empty()) return "";
  constexpr int most = 20;
  int left = most;
  std::string list;
  for (const auto& [task, rules] : marks)
    if (left-- > 0)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", task, fmt::join(rules, ", "));
  return fmt::format("<p>Of their {} tasks the linter marks {}: {}{}.</p>\n", tasks.size(),
                     marks.size(), escape(list), left < 0 ? ", and others" : "");
}

}  // namespace

std::string render_samples(const RunRecords& run) {
  if (run.samples.empty()) return "";
  std::string html = render_marked_tasks(run);
  int accepted = 0;
  std::set<std::string> failures;
  for (auto at = run.samples.rbegin(); at != run.samples.rend(); ++at) {
    const Verdict& verdict = at->verdict;
    const bool is_shown = verdict.accepted ? accepted++ < kAcceptedShown
                                           : failures.size() < kFailuresShown &&
                                                 failures.insert(failure_of(verdict)).second;
    if (is_shown) html += render_sample(*at);
  }
  return html;
}

}  // namespace tritonsmith::report
