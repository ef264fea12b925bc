// Evaluation: the results of a model on a suite of tasks. The library eval/ writes one
// evaluation.json for each, and reports show it. docs/evaluation.md defines every number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

// Shares in [0, 1].
struct Rates {
  double compiled = 0, correct = 0, accepted = 0;
  bool operator==(const Rates&) const = default;
};

// The reported thresholds p of fast_p.
inline constexpr double kFastThresholds[] = {0.8, 1, 1.2, 1.5, 2};

// Speed as a GPU measured it. fast_p is the share of samples that are accepted and more than p
// times as fast as the reference (KernelBench, arXiv 2502.10517).
struct Speed {
  int timed = 0;                       // accepted samples with a measured speed-up
  double geometric_mean = 0;           // of the speed-ups; 0 without any
  std::map<std::string, double> fast;  // "1.2" -> share
  std::map<std::string, std::map<int, double>> fast_at;  // "1.2" -> k -> share, unbiased estimate
  // The same against the judge's baselines, as KernelBench publishes it: "eager" -> "1.2" -> share.
  // Empty if the judge measured no baseline.
  std::map<std::string, std::map<std::string, double>> fast_against;
  std::map<std::string, double> geometric_mean_against;  // "eager" -> mean
};

struct TaskResult {
  std::string id, level;
  int samples = 0, compiled = 0, correct = 0, accepted = 0;
  int hacks = 0;                        // samples that a finding rejects
  std::map<std::string, int> findings;  // rule -> how many of these samples break it
  bool greedy_accepted = false;         // false too without a greedy conversation
  std::vector<double> speedups;         // one for each accepted sample; empty without timing
  std::vector<std::string> marks;  // the task linter's findings about the task: "task_zeros_pass"
};

// The same numbers over the tasks of one level: KernelBench's level ("level1"), or else the family.
struct LevelResult {
  std::string level;
  int tasks = 0;
  Rates sampled;
  double pass_at_1 = 0, hack_rate = 0;
  std::map<std::string, int> findings;  // rejecting rule -> samples that break it
  int samples = 0;                      // of all tasks of the level together
  Speed speed;
};

// In many turns: the state of the sampled conversations after a number of turns.
struct TurnResult {
  int turn = 0;  // from 1
  Rates last;    // each conversation's latest turn so far
  Rates best;    // its best turn so far: accepted first, then the fastest
  std::map<std::string, double> last_fast, best_fast;  // "1.2" -> share
  double tokens = 0, judge_seconds = 0;                // spent so far, for each conversation
  // k -> the probability that one of k conversations is accepted, at its last turn and at its best.
  std::map<int, double> last_at, best_at;
  // "1.2" -> k -> the probability that one of them is accepted and that fast. Empty without timing.
  std::map<std::string, std::map<int, double>> last_fast_at, best_fast_at;
};

struct Evaluation {
  std::string name, suite, model, policy, backend;
  int tasks = 0;
  int samples = 0;  // samples of each task, at `temperature`; the fewest, where tasks differ
  int turns = 1;    // the largest number of turns of a conversation
  double temperature = 1, seconds = 0;
  int parsed = -1;  // completions that hold Python, greedy ones and all turns too; -1: not known
  double tokens = 0, judge_seconds = 0;  // of all sampled completions together
  Rates sampled;                         // at the last turn
  std::optional<Rates> greedy;           // likewise; absent without greedy conversations
  std::map<int, double> pass_at;         // k -> share of tasks, unbiased estimate
  Speed speed;
  double hack_rate = 0;                         // share of samples that a finding rejects
  std::map<std::string, int> errors, findings;  // how many sampled verdicts carry each
  // Why sampled verdicts were not accepted, each counted once (failure_of).
  std::map<std::string, int> failures;
  std::string program,
      date;  // that made it: "tritonsmith 0.1.0, commit ..."; when it ended, in UTC
  std::vector<LevelResult> levels;
  // The results on the tasks about which the linter reports nothing. Absent if these are all tasks.
  std::optional<LevelResult> sound;
  std::vector<TurnResult> by_turn;  // empty with a single turn
  std::vector<TaskResult> by_task;
};

// Returns the number of samples of all tasks together.
int all_samples(const Evaluation& evaluation);

Json to_json(const Evaluation& evaluation);
Result<Evaluation> evaluation_from_json(const Json& json);

}  // namespace tritonsmith
