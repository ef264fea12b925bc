#include "eval/metrics.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/check.h"
#include "data/failure.h"
#include "data/timed_devices.h"

namespace tritonsmith::eval {
namespace {

template <typename Holds>
double share_of(std::span<const Verdict> verdicts, Holds holds) {
  if (verdicts.empty()) return 0;
  return static_cast<double>(std::ranges::count_if(verdicts, holds)) /
         static_cast<double>(verdicts.size());
}

std::string name_of_threshold(double p) { return fmt::format("{:g}", p); }

std::map<std::string, double> fast_shares(std::span<const Verdict> verdicts) {
  std::map<std::string, double> shares;
  if (std::ranges::none_of(verdicts, [](const Verdict& v) { return v.speedup.has_value(); }))
    return shares;  // nothing was timed, so there is no share to state
  for (const double p : kFastThresholds)
    shares[name_of_threshold(p)] =
        share_of(verdicts, [p](const Verdict& v) { return is_fast(v, p); });
  return shares;
}

// Returns the fast shares by baseline. They are shares of all verdicts, so a sample without a time
// counts as slow.
std::map<std::string, std::map<std::string, double>> fast_against(
    std::span<const Verdict> verdicts) {
  std::map<std::string, std::map<std::string, double>> all;
  for (const Verdict& timed : verdicts)
    for (const auto& [baseline, timing] : timed.baselines)
      if (auto& shares = all[baseline]; shares.empty())
        for (const double p : kFastThresholds)
          shares[name_of_threshold(p)] = share_of(verdicts, [&](const Verdict& v) {
            return v.accepted && speedup_over(v, baseline).value_or(0) > p;
          });
  return all;
}

// Returns the geometric mean of the accepted kernels' speed-ups by baseline. Kernels without a time
// do not count.
std::map<std::string, double> means_against(std::span<const Verdict> verdicts) {
  std::map<std::string, std::pair<double, int>> logs;  // the logarithms' sum and number
  for (const Verdict& verdict : verdicts)
    for (const auto& [baseline, timing] : verdict.baselines) {
      const double ratio = verdict.accepted ? speedup_over(verdict, baseline).value_or(0) : 0;
      if (ratio <= 0) continue;
      logs[baseline].first += std::log(ratio);
      ++logs[baseline].second;
    }
  std::map<std::string, double> means;
  for (const auto& [baseline, sum] : logs) means[baseline] = std::exp(sum.first / sum.second);
  return means;
}

// Counts the samples that break each rule. A sample that breaks a rule twice counts once.
std::map<std::string, int> broken_rules(std::span<const Verdict> verdicts) {
  std::map<std::string, int> counts;
  for (const Verdict& verdict : verdicts) {
    std::set<std::string> rules;
    for (const Finding& finding : verdict.findings)
      if (finding.severity == Severity::reject) rules.insert(finding.rule);
    for (const std::string& rule : rules) ++counts[rule];
  }
  return counts;
}

// Returns the mean over tasks of the unbiased estimate, by k = 1, 2, 4, ... `holds` tells which
// conversations are right.
template <typename Holds>
std::map<int, double> estimate_of_conversations(std::span<const TaskVerdicts> tasks, int samples,
                                                Holds holds) {
  std::map<int, double> shares;
  for (int k = 1; k <= samples; k *= 2) {
    double sum = 0;
    for (const TaskVerdicts& task : tasks) {
      const auto right = std::ranges::count_if(task.sampled, holds);
      sum += pass_at_k(static_cast<int>(task.sampled.size()), static_cast<int>(right), k);
    }
    shares[k] = sum / static_cast<double>(tasks.size());
  }
  return shares;
}

// Returns the same estimate for the last turns.
template <typename Holds>
std::map<int, double> estimate_at(std::span<const TaskVerdicts> tasks, int samples, Holds holds) {
  return estimate_of_conversations(tasks, samples,
                                   [&](const Conversation& c) { return holds(c.last()); });
}

std::vector<Verdict> last_verdicts(std::span<const TaskVerdicts> tasks) {
  std::vector<Verdict> verdicts;
  for (const TaskVerdicts& task : tasks)
    for (const Conversation& conversation : task.sampled) verdicts.push_back(conversation.last());
  return verdicts;
}

int fewest_samples(std::span<const TaskVerdicts> tasks) {
  if (tasks.empty()) return 0;
  std::size_t fewest = tasks.front().sampled.size();
  for (const TaskVerdicts& task : tasks) fewest = std::min(fewest, task.sampled.size());
  return static_cast<int>(fewest);
}

Speed speed_of(std::span<const TaskVerdicts> tasks, std::span<const Verdict> verdicts) {
  Speed speed;
  double logs = 0;
  for (const Verdict& verdict : verdicts) {
    if (!verdict.accepted || !verdict.speedup || *verdict.speedup <= 0) continue;
    ++speed.timed;
    logs += std::log(*verdict.speedup);
  }
  if (speed.timed > 0) speed.geometric_mean = std::exp(logs / speed.timed);
  speed.fast = fast_shares(verdicts);
  speed.fast_against = fast_against(verdicts);
  speed.geometric_mean_against = means_against(verdicts);
  if (speed.fast.empty()) return speed;
  for (const double p : kFastThresholds)
    speed.fast_at[name_of_threshold(p)] =
        estimate_at(tasks, fewest_samples(tasks), [p](const Verdict& v) { return is_fast(v, p); });
  return speed;
}

TaskResult result_of(const TaskVerdicts& task) {
  TaskResult result{.id = task.id,
                    .level = task.level,
                    .samples = static_cast<int>(task.sampled.size()),
                    .greedy_accepted = task.greedy && task.greedy->last().accepted,
                    .marks = task.marks};
  result.findings = broken_rules(last_verdicts({&task, 1}));
  for (const Conversation& conversation : task.sampled) {
    const Verdict& verdict = conversation.last();
    result.compiled += verdict.compiled;
    result.correct += verdict.correct;
    result.accepted += verdict.accepted;
    result.hacks += has_rejecting_finding(verdict);
    if (verdict.accepted && verdict.speedup) result.speedups.push_back(*verdict.speedup);
  }
  return result;
}

// Calls `visit` with each verdict of each turn.
template <typename Visit>
void for_each_verdict(std::span<TaskVerdicts> tasks, const Visit& visit) {
  for (TaskVerdicts& task : tasks) {
    if (task.greedy) std::ranges::for_each(task.greedy->verdicts, visit);
    for (Conversation& each : task.sampled) std::ranges::for_each(each.verdicts, visit);
  }
}

LevelResult level_result(const std::string& level, std::span<const TaskVerdicts> tasks) {
  const std::vector<Verdict> verdicts = last_verdicts(tasks);
  LevelResult result{.level = level,
                     .tasks = static_cast<int>(tasks.size()),
                     .sampled = rates_of(verdicts),
                     .hack_rate = share_of(verdicts, has_rejecting_finding),
                     .findings = broken_rules(verdicts),
                     .samples = static_cast<int>(verdicts.size()),
                     .speed = speed_of(tasks, verdicts)};
  const auto at = estimate_at(tasks, std::min(1, fewest_samples(tasks)),
                              [](const Verdict& v) { return v.accepted; });
  if (at.contains(1)) result.pass_at_1 = at.at(1);
  return result;
}

std::span<const Verdict> first_turns(const Conversation& conversation, int turns) {
  const std::size_t count = std::min(conversation.verdicts.size(), static_cast<std::size_t>(turns));
  return std::span(conversation.verdicts).first(count);
}

// Adds the estimates over several conversations, after the result's number of turns.
void add_estimates(std::span<const TaskVerdicts> tasks, TurnResult& result) {
  const int samples = fewest_samples(tasks);
  const auto last = [&](auto holds) {
    return estimate_of_conversations(tasks, samples, [&](const Conversation& c) {
      return holds(first_turns(c, result.turn).back());
    });
  };
  const auto best = [&](auto holds) {
    return estimate_of_conversations(tasks, samples, [&](const Conversation& c) {
      return std::ranges::any_of(first_turns(c, result.turn), holds);
    });
  };
  const auto is_accepted = [](const Verdict& verdict) { return verdict.accepted; };
  result.last_at = last(is_accepted);
  result.best_at = best(is_accepted);
  if (result.best_fast.empty()) return;
  for (const double p : kFastThresholds) {
    const auto is_so_fast = [p](const Verdict& verdict) { return is_fast(verdict, p); };
    result.last_fast_at[name_of_threshold(p)] = last(is_so_fast);
    result.best_fast_at[name_of_threshold(p)] = best(is_so_fast);
  }
}

// Returns what all sampled conversations reached within `turn` turns.
TurnResult turn_result(int turn, std::span<const TaskVerdicts> tasks) {
  TurnResult result{.turn = turn};
  std::vector<Verdict> last, best;
  for (const TaskVerdicts& task : tasks)
    for (const Conversation& conversation : task.sampled) {
      const auto played = first_turns(conversation, turn);
      last.push_back(played.back());
      best.push_back(played.front());
      for (const Verdict& verdict : played) {
        if (is_better(verdict, best.back())) best.back() = verdict;
        result.judge_seconds += judge_seconds(verdict);
      }
      for (const int tokens : std::span(conversation.tokens).first(played.size()))
        result.tokens += tokens;
    }
  const double conversations = std::max<double>(1, static_cast<double>(last.size()));
  result.tokens /= conversations;
  result.judge_seconds /= conversations;
  result.last = rates_of(last);
  result.best = rates_of(best);
  result.last_fast = fast_shares(last);
  result.best_fast = fast_shares(best);
  add_estimates(tasks, result);
  return result;
}

void summarise_levels(std::span<const TaskVerdicts> tasks, Evaluation& evaluation) {
  std::map<std::string, std::vector<TaskVerdicts>> levels;
  for (const TaskVerdicts& task : tasks) levels[task.level].push_back(task);
  for (const auto& [level, members] : levels)
    evaluation.levels.push_back(level_result(level, members));
}

void summarise_sound(std::span<const TaskVerdicts> tasks, Evaluation& evaluation) {
  std::vector<TaskVerdicts> sound;
  for (const TaskVerdicts& task : tasks)
    if (task.marks.empty()) sound.push_back(task);
  if (sound.size() == tasks.size()) return;
  evaluation.sound = level_result("", sound);
}

void summarise_turns(std::span<const TaskVerdicts> tasks, Evaluation& evaluation) {
  std::size_t turns = 0;
  for (const TaskVerdicts& task : tasks)
    for (const Conversation& conversation : task.sampled) {
      turns = std::max(turns, conversation.verdicts.size());
      for (const int tokens : conversation.tokens) evaluation.tokens += tokens;
      for (const Verdict& verdict : conversation.verdicts)
        evaluation.judge_seconds += judge_seconds(verdict);
    }
  if (turns < 2) return;
  for (int turn = 1; turn <= static_cast<int>(turns); ++turn)
    evaluation.by_turn.push_back(turn_result(turn, tasks));
}

}  // namespace

double pass_at_k(int n, int c, int k) {
  CHECK(1 <= k && k <= n && 0 <= c && c <= n, "pass@{} of {} right among {}", k, c, n);
  if (n - c < k) return 1;
  double all_wrong = 1;
  for (int i = n - c + 1; i <= n; ++i) all_wrong *= 1.0 - static_cast<double>(k) / i;
  return 1 - all_wrong;
}

bool is_fast(const Verdict& verdict, double p) {
  return verdict.accepted && verdict.speedup.value_or(0) > p;
}

bool is_better(const Verdict& b, const Verdict& a) {
  if (a.accepted != b.accepted) return b.accepted;
  if (a.accepted && a.speedup != b.speedup) return b.speedup.value_or(0) > a.speedup.value_or(0);
  return b.stage > a.stage;
}

Rates rates_of(std::span<const Verdict> verdicts) {
  return {.compiled = share_of(verdicts, [](const Verdict& v) { return v.compiled; }),
          .correct = share_of(verdicts, [](const Verdict& v) { return v.correct; }),
          .accepted = share_of(verdicts, [](const Verdict& v) { return v.accepted; })};
}

void count_failures(std::span<const Verdict> verdicts, Evaluation& evaluation) {
  for (const Verdict& verdict : verdicts)
    if (verdict.error) ++evaluation.errors[class_name(*verdict.error)];
  for (const Verdict& verdict : verdicts)
    if (!verdict.accepted) ++evaluation.failures[failure_of(verdict)];
  evaluation.findings = broken_rules(verdicts);
}

std::vector<std::string> marks_in(std::span<const Finding> findings) {
  static const std::set<std::string, std::less<>> against_tasks = {
      "task_zeros_pass", "task_constant_passes", "task_replay_passes", "task_ignores_input"};
  std::vector<std::string> marks;
  for (const Finding& finding : findings)
    if (against_tasks.contains(finding.rule) &&
        std::ranges::find(marks, finding.rule) == marks.end())
      marks.push_back(finding.rule);
  return marks;
}

// Sums the stages in which the gym works. The other stages are waiting, parts of "referee", or
// "total", which includes the time in the queue.
double judge_seconds(const Verdict& verdict) {
  static const std::set<std::string, std::less<>> work = {"fork", "jail", "capture", "compile",
                                                          "referee"};
  double milliseconds = 0;
  if (verdict.from_store) return 0;
  for (const auto& [stage, spent] : verdict.stage_ms)
    if (work.contains(stage)) milliseconds += spent;
  return milliseconds / 1e3;
}

std::string level_of(std::string_view task_id, std::string_view family, std::string_view suite) {
  const std::size_t at = task_id.find("level");
  const bool begins = at == 0 || (at != std::string_view::npos && task_id[at - 1] == '/');
  const std::size_t slash = begins ? task_id.find('/', at) : std::string_view::npos;
  if (slash != std::string_view::npos) return std::string(task_id.substr(at, slash - at));
  return std::string(family.empty() ? suite : family);
}

std::string keep_times_of_one_device(std::span<TaskVerdicts> tasks) {
  TimedDevices devices;
  for_each_verdict(tasks, [&](const Verdict& verdict) { devices.add(verdict); });
  const std::string device = devices.most();
  for_each_verdict(tasks, [&](Verdict& verdict) {
    if (verdict.environment.gpu != device) forget_times(verdict);
  });
  return devices.others_than(device);
}

void summarise(std::span<const TaskVerdicts> tasks, Evaluation& evaluation) {
  std::vector<Verdict> greedy;
  for (const TaskVerdicts& task : tasks) {
    if (task.greedy) greedy.push_back(task.greedy->last());
    evaluation.by_task.push_back(result_of(task));
  }
  const std::vector<Verdict> sampled = last_verdicts(tasks);
  evaluation.tasks = static_cast<int>(tasks.size());
  evaluation.samples = fewest_samples(tasks);
  if (!greedy.empty()) evaluation.greedy = rates_of(greedy);
  evaluation.sampled = rates_of(sampled);
  evaluation.pass_at =
      estimate_at(tasks, evaluation.samples, [](const Verdict& v) { return v.accepted; });
  evaluation.speed = speed_of(tasks, sampled);
  evaluation.hack_rate = share_of(sampled, has_rejecting_finding);
  count_failures(sampled, evaluation);
  summarise_levels(tasks, evaluation);
  summarise_sound(tasks, evaluation);
  summarise_turns(tasks, evaluation);
}

}  // namespace tritonsmith::eval
