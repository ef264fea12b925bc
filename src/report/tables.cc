#include "report/tables.h"

#include <algorithm>
#include <map>
#include <set>

#include "report/compare.h"

namespace tritonsmith::report {
namespace {

using Row = std::vector<std::string>;
using Evaluations = std::vector<Evaluation>;

std::string number_or_blank(double value) { return value > 0 ? fmt::format("{:.3g}", value) : ""; }

// Writes a difference of shares in percentage points.
std::string points(double difference) { return fmt::format("{:+.1f}", 100 * difference); }

bool has_fast_shares(const Evaluation& e) { return !e.speed.fast.empty(); }

bool any_timed(const Evaluations& evaluations) {
  return std::ranges::any_of(evaluations, has_fast_shares);
}

void append_fast(Row& row, const std::map<std::string, double>& fast) {
  for (const double p : kFastThresholds) {
    const auto at = fast.find(fmt::format("{:g}", p));
    row.push_back(at == fast.end() ? "" : percent(at->second));
  }
}

void append_fast_heads(Row& head, std::string_view prefix = "") {
  for (const double p : kFastThresholds) head.push_back(fmt::format("{}fast_{:g}", prefix, p));
}

// Returns the name of the row for an evaluation without degenerate tasks.
std::string without_degenerate(const Evaluation& e) {
  return fmt::format("all but {} degenerate", e.tasks - e.sound->tasks);
}

// Returns "torch_compute 12, no_kernel 3", with the most frequent rule first.
std::string rules_text(const std::map<std::string, int>& findings) {
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [rule, count] : findings) sorted.emplace_back(-count, rule);
  std::ranges::sort(sorted);
  std::string text;
  for (const auto& [count, rule] : sorted)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rule, -count);
  return text;
}

Table speed_table(const Evaluations& evaluations) {
  Table table{.title = "Speed",
              .note =
                  "fast_p: share of samples that are accepted and more than p times as fast as "
                  "the reference. Geometric mean: of the speed-ups of accepted samples.",
              .rows = {{"evaluation"}}};
  append_fast_heads(table.rows[0]);
  table.rows[0].insert(table.rows[0].end(), {"geometric mean", "timed samples"});
  for (const Evaluation& e : evaluations) {
    if (!has_fast_shares(e)) continue;
    Row row = {e.name};
    append_fast(row, e.speed.fast);
    row.insert(row.end(), {number_or_blank(e.speed.geometric_mean), std::to_string(e.speed.timed)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table baseline_table(const Evaluations& evaluations) {
  Table table{.title = "Speed against other ways to run the task",
              .note =
                  "The same against the task's own Python (eager) and what torch.compile makes of "
                  "it, timed as KernelBench does.",
              .rows = {{"evaluation", "tasks", "against"}}};
  append_fast_heads(table.rows[0]);
  table.rows[0].emplace_back("geometric mean");
  const auto append = [&](const std::string& name, const std::string& tasks, const Speed& speed) {
    for (const auto& [baseline, fast] : speed.fast_against) {
      Row row = {name, tasks, baseline};
      append_fast(row, fast);
      const auto mean = speed.geometric_mean_against.find(baseline);
      row.push_back(mean == speed.geometric_mean_against.end() ? ""
                                                               : number_or_blank(mean->second));
      table.rows.push_back(std::move(row));
    }
  };
  for (const Evaluation& e : evaluations) {
    append(e.name, "all", e.speed);
    if (e.levels.size() > 1)
      for (const LevelResult& level : e.levels) append(e.name, level.level, level.speed);
    if (e.sound) append(e.name, without_degenerate(e), e.sound->speed);
  }
  return table;
}

Table fast_at_table(const Evaluations& evaluations) {
  Table table{.title = "fast_p@k",
              .note = "The chance that one of k samples is so fast (unbiased estimate).",
              .rows = {{"evaluation", "k"}}};
  append_fast_heads(table.rows[0]);
  for (const Evaluation& e : evaluations) {
    std::map<int, std::map<std::string, double>> by_k;
    for (const auto& [p, shares] : e.speed.fast_at)
      for (const auto& [k, share] : shares) by_k[k][p] = share;
    for (const auto& [k, fast] : by_k) {
      Row row = {e.name, std::to_string(k)};
      append_fast(row, fast);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Row level_row(const Evaluation& e, const LevelResult& level, bool has_speeds) {
  Row row = {e.name,
             level.level,
             std::to_string(level.tasks),
             percent(level.sampled.compiled),
             percent(level.sampled.correct),
             percent(level.sampled.accepted),
             percent(level.hack_rate)};
  if (!has_speeds) return row;
  append_fast(row, level.speed.fast);
  row.push_back(number_or_blank(level.speed.geometric_mean));
  return row;
}

Table level_table(const Evaluations& evaluations) {
  Table table{
      .title = "By level",
      .note = "",
      .rows = {{"evaluation", "level", "tasks", "compiled", "correct", "accepted", "refused"}}};
  const bool has_speeds = any_timed(evaluations);
  if (has_speeds) {
    append_fast_heads(table.rows[0]);
    table.rows[0].emplace_back("geometric mean");
  }
  for (const Evaluation& e : evaluations) {
    if (e.levels.size() > 1)
      for (const LevelResult& level : e.levels)
        table.rows.push_back(level_row(e, level, has_speeds));
    if (!e.sound) continue;
    table.note =
        "Degenerate tasks are those that the task linter marks: zeros, a constant or the output "
        "for other inputs would pass for a solution, or an input is ignored.";
    LevelResult sound = *e.sound;
    sound.level = without_degenerate(e);
    table.rows.push_back(level_row(e, sound, has_speeds));
  }
  return table;
}

Table refusal_table(const Evaluations& evaluations) {
  std::set<std::string> rules;
  for (const Evaluation& e : evaluations)
    for (const auto& [rule, count] : e.findings) rules.insert(rule);
  Table table{.title = "Refused samples by rule",
              .note = "Samples that a finding rejects; one sample may break several rules.",
              .rows = {{"rule"}}};
  if (rules.empty()) return table;
  Row total = {"any"};
  for (const Evaluation& e : evaluations) {
    table.rows[0].push_back(e.name);
    total.push_back(percent(e.hack_rate));
  }
  table.rows.push_back(std::move(total));
  for (const std::string& rule : rules) {
    Row row = {rule};
    for (const Evaluation& e : evaluations) {
      const auto at = e.findings.find(rule);
      const double samples = std::max(1, all_samples(e));
      row.push_back(at == e.findings.end() ? "" : percent(at->second / samples));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Shows the shares of each level's samples.
Table refusal_by_level_table(const Evaluations& evaluations) {
  std::set<std::string> rules;
  for (const Evaluation& e : evaluations)
    for (const auto& [rule, count] : e.findings) rules.insert(rule);
  Table table{.title = "Refused samples by level and rule",
              .note = "Shares of the level's samples.",
              .rows = {{"evaluation", "level", "any"}}};
  table.rows[0].insert(table.rows[0].end(), rules.begin(), rules.end());
  for (const Evaluation& e : evaluations) {
    if (e.levels.size() < 2) continue;
    for (const LevelResult& level : e.levels) {
      if (level.findings.empty()) continue;
      Row row = {e.name, level.level, percent(level.hack_rate)};
      for (const std::string& rule : rules) {
        const auto at = level.findings.find(rule);
        row.push_back(at == level.findings.end()
                          ? ""
                          : percent(at->second / static_cast<double>(std::max(1, level.samples))));
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

bool ever_accepted(const Evaluation& e) {
  return e.sampled.accepted > 0 || (e.greedy && e.greedy->accepted > 0);
}

// Returns the evaluation with which later ones are compared.
std::size_t baseline_of(const Evaluations& evaluations, std::string_view name) {
  auto at = std::ranges::find(evaluations, name, &Evaluation::name);
  if (at == evaluations.end()) at = std::ranges::find_if(evaluations, ever_accepted);
  return at == evaluations.end() ? 0 : static_cast<std::size_t>(at - evaluations.begin());
}

std::vector<Table> comparison_tables(const Evaluations& evaluations, std::string_view baseline) {
  std::vector<Table> tables;
  const std::size_t base = baseline_of(evaluations, baseline);
  for (std::size_t i = base + 1; i < evaluations.size(); ++i) {
    const Evaluation &first = evaluations[base], &second = evaluations[i];
    const auto differences = compare(first, second);
    if (differences.empty()) continue;
    Table table{.title = fmt::format("{} against {}", second.name, first.name),
                .note = fmt::format("Paired over {} tasks; 95 % interval from 10,000 bootstrap "
                                    "samples of the tasks.",
                                    differences[0].tasks),
                .rows = {{"measure", first.name, second.name, "points", "from", "to"}}};
    for (const Difference& d : differences)
      table.rows.push_back({d.measure, percent(d.before), percent(d.after),
                            points(d.after - d.before), points(d.low), points(d.high)});
    tables.push_back(std::move(table));
  }
  return tables;
}

constexpr std::string_view kKernelBenchLevels[] = {"level1", "level2", "level3"};

// "19.5 / 16.5 / 12.5 / 11.0"
std::string fast_quartet(const std::map<std::string, double>& fast) {
  std::string text;
  for (const char* p : {"1", "1.2", "1.5", "2"}) {
    const auto at = fast.find(p);
    const std::string share = at == fast.end() ? "-" : fmt::format("{:.1f}", 100 * at->second);
    text += (text.empty() ? "" : " / ") + share;
  }
  return text;
}

// Returns the results by turn. With one turn there is no such table, so the evaluation's own
// numbers are the results of turn 1.
std::vector<TurnResult> turns_of(const Evaluation& e) {
  if (!e.by_turn.empty()) return e.by_turn;
  const double conversations = std::max(1, all_samples(e));
  return {{.turn = 1,
           .tokens = e.tokens / conversations,
           .judge_seconds = e.judge_seconds / conversations,
           .last_at = e.pass_at,
           .best_at = e.pass_at,
           .last_fast_at = e.speed.fast_at,
           .best_fast_at = e.speed.fast_at}};
}

std::string percent_at(const std::map<int, double>& shares, int k) {
  const auto at = shares.find(k);
  return at == shares.end() ? "" : percent(at->second);
}

// Returns the samples of each task: "8", or "1 to 3" where tasks differ.
std::string samples_text(const Evaluation& e) {
  int most = e.samples;
  for (const TaskResult& task : e.by_task) most = std::max(most, task.samples);
  return most == e.samples ? std::to_string(most) : fmt::format("{} to {}", e.samples, most);
}

Table rates_table(const Evaluations& evaluations) {
  const Evaluation& first = evaluations.front();
  std::set<std::string> suites;
  for (const Evaluation& e : evaluations) suites.insert(e.suite);
  return {
      .title = "Rates",
      .note = fmt::format(
          "{} tasks of {}; {} samples a task{}. Policy {}, backend {}. Accepted: correct, and "
          "nothing that the policy refuses.",
          first.tasks, fmt::join(suites, ", "), samples_text(first),
          first.greedy ? fmt::format(" at temperature {:.3g}, and one greedy", first.temperature)
                       : "",
          first.policy, first.backend),
      .rows = evaluation_rows(evaluations)};
}

}  // namespace

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Table turn_table(const Evaluations& evaluations) {
  Table table{.title = "Over turns",
              .note =
                  "Last: each sampled conversation's latest turn until then; best: its best "
                  "one. Tokens and judge seconds are what a conversation has cost until then.",
              .rows = {{"evaluation", "turn", "accepted, last", "accepted, best"}}};
  Row& head = table.rows[0];
  const bool has_speeds = any_timed(evaluations);
  if (has_speeds) append_fast_heads(head, "best ");
  head.insert(head.end(), {"tokens", "judge seconds"});
  for (const Evaluation& e : evaluations)
    for (const TurnResult& turn : e.by_turn) {
      Row row = {e.name, std::to_string(turn.turn), percent(turn.last.accepted),
                 percent(turn.best.accepted)};
      if (has_speeds) append_fast(row, turn.best_fast);
      row.insert(row.end(),
                 {fmt::format("{:.0f}", turn.tokens), fmt::format("{:.2f}", turn.judge_seconds)});
      table.rows.push_back(std::move(row));
    }
  return table;
}

Table scaling_table(const Evaluations& evaluations) {
  Table table{.title = "Test-time scaling",
              .note =
                  "n conversations of so many turns: the chance that one of them is accepted, "
                  "at its last turn and at its best (unbiased estimates), and what all n cost.",
              .rows = {{"evaluation", "n", "turns", "last turn", "best of history"}}};
  const bool has_speeds = any_timed(evaluations);
  if (has_speeds)
    table.rows[0].insert(table.rows[0].end(), {"fast_1.2, last turn", "fast_1.2, best of history"});
  table.rows[0].insert(table.rows[0].end(), {"tokens", "judge seconds"});
  for (const Evaluation& e : evaluations)
    for (const TurnResult& turn : turns_of(e))
      for (const auto& [n, share] : turn.best_at) {
        Row row = {e.name, std::to_string(n), std::to_string(turn.turn),
                   percent_at(turn.last_at, n), percent(share)};
        if (has_speeds)
          for (const auto* fast : {&turn.last_fast_at, &turn.best_fast_at}) {
            const auto at = fast->find("1.2");
            row.push_back(at == fast->end() ? "" : percent_at(at->second, n));
          }
        row.insert(row.end(), {turn.tokens > 0 ? fmt::format("{:.0f}", n * turn.tokens) : "",
                               fmt::format("{:.2f}", n * turn.judge_seconds)});
        table.rows.push_back(std::move(row));
      }
  return table;
}

std::string to_text(const std::vector<Row>& rows, Alignment alignment) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 || alignment == Alignment::left
                  ? fmt::format("{}{:<{}}", i == 0 ? "" : "  ", row[i], widths[i])
                  : fmt::format("  {:>{}}", row[i], widths[i]);
    if (alignment == Alignment::left) line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::vector<Row> evaluation_rows(const Evaluations& evaluations) {
  std::set<int> ks;
  for (const Evaluation& e : evaluations)
    for (const auto& [k, share] : e.pass_at) ks.insert(k);
  std::vector<Row> rows(1);
  const bool has_greedy =
      std::ranges::any_of(evaluations, [](const Evaluation& e) { return e.greedy.has_value(); });
  rows[0] = {"evaluation", "compiled", "correct", "accepted"};
  if (has_greedy) rows[0].emplace_back("greedy accepted");
  for (const int k : ks) rows[0].push_back(fmt::format("pass@{}", k));
  rows[0].insert(rows[0].end(), {"tasks", "samples", "seconds"});
  for (const Evaluation& e : evaluations) {
    Row row = {e.name, percent(e.sampled.compiled), percent(e.sampled.correct),
               percent(e.sampled.accepted)};
    if (has_greedy) row.push_back(e.greedy ? percent(e.greedy->accepted) : "");
    for (const int k : ks) row.push_back(e.pass_at.contains(k) ? percent(e.pass_at.at(k)) : "");
    row.insert(row.end(),
               {std::to_string(e.tasks), samples_text(e), fmt::format("{:.0f}", e.seconds)});
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Table> evaluation_tables(const Evaluations& evaluations, std::string_view baseline) {
  std::vector<std::string> policies;  // in the order of their appearance
  for (const Evaluation& e : evaluations)
    if (std::ranges::find(policies, e.policy) == policies.end()) policies.push_back(e.policy);
  std::vector<Table> tables;
  for (const std::string& policy : policies) {
    Evaluations own;
    for (const Evaluation& e : evaluations)
      if (e.policy == policy) own.push_back(e);
    std::vector<Table> all = {rates_table(own)};
    for (Table& table : comparison_tables(own, baseline)) all.push_back(std::move(table));
    for (Table& table : std::vector<Table>{
             speed_table(own), baseline_table(own), fast_at_table(own), level_table(own),
             turn_table(own), scaling_table(own), refusal_table(own), refusal_by_level_table(own)})
      all.push_back(std::move(table));
    for (Table& table : all) {
      if (table.rows.size() < 2) continue;
      if (policies.size() > 1) table.title += fmt::format(" (policy {})", policy);
      tables.push_back(std::move(table));
    }
  }
  return tables;
}

Table kernelbench_table(const Evaluations& evaluations) {
  Table table{.title = "KernelBench, measured here",
              .note =
                  "fast_1 / fast_1.2 / fast_1.5 / fast_2 in %, of sampled completions at their "
                  "last turn, as in the published tables below; the chip, the judge and the "
                  "policy are this report's. Against eager PyTorch, as published, where "
                  "judge.baselines had it timed; else against the gym's replay of the reference.",
              .rows = {{"evaluation", "policy", "against", "level 1", "level 2", "level 3"}}};
  for (const Evaluation& e : evaluations) {
    const bool has_eager = e.speed.fast_against.contains("eager");
    Row row = {e.name, e.policy, has_eager ? "eager" : "replayed reference", "", "", ""};
    bool has_any = false;
    for (const LevelResult& level : e.levels) {
      const auto at = std::ranges::find(kKernelBenchLevels, level.level);
      if (at == std::end(kKernelBenchLevels) || level.speed.fast.empty()) continue;
      const auto eager = level.speed.fast_against.find("eager");
      const bool beside_eager = eager != level.speed.fast_against.end();
      if (has_eager && !beside_eager) continue;
      row[3 + static_cast<std::size_t>(at - std::begin(kKernelBenchLevels))] =
          fast_quartet(beside_eager ? eager->second : level.speed.fast);
      has_any = true;
    }
    if (has_any) table.rows.push_back(std::move(row));
  }
  return table;
}

Table task_table(const Evaluations& evaluations) {
  std::map<std::string, Row> rows;
  Table table{.title = "Tasks",
              .note = "Accepted samples of each task, and those that a finding refuses.",
              .rows = {{"task"}}};
  for (std::size_t i = 0; i < evaluations.size(); ++i) {
    table.rows[0].push_back(evaluations[i].name);
    for (const TaskResult& task : evaluations[i].by_task) {
      Row& row = rows[task.id];
      row.resize(evaluations.size() + 1);
      row[0] =
          task.id + (task.marks.empty() ? "" : fmt::format(" ({})", fmt::join(task.marks, ", ")));
      row[i + 1] = fmt::format("{} of {}", task.accepted, task.samples);
      if (task.hacks > 0)
        row[i + 1] += fmt::format(", {} refused ({})", task.hacks, rules_text(task.findings));
      if (!task.speedups.empty())
        row[i + 1] += fmt::format(", best speed-up {:.2f}", std::ranges::max(task.speedups));
    }
  }
  for (auto& [id, row] : rows) table.rows.push_back(std::move(row));
  return table;
}

}  // namespace tritonsmith::report
