// Evaluation: how a model did on a suite of tasks: what eval/ measures and reports show. One
// evaluation.json each. docs/evaluation.md defines every number.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

// Rates are shares in [0, 1].
struct Rates {
  double compiled = 0, correct = 0, accepted = 0;
  bool operator==(const Rates&) const = default;
};

// The p of fast_p that are reported.
inline constexpr double kFastThresholds[] = {0.8, 1, 1.2, 1.5, 2};

// Where a GPU measured speed. fast_p: the share of samples that are accepted and more than p times
// as fast as the reference (KernelBench, arXiv 2502.10517).
struct Speed {
  int timed = 0;                       // accepted samples that carry a speed-up
  double geometric_mean = 0;           // of their speed-ups; 0 where there are none
  std::map<std::string, double> fast;  // "1.2" -> share
  std::map<std::string, std::map<int, double>> fast_at;  // "1.2" -> k -> share, unbiased
  // The same against the judge's baselines, which is what KernelBench publishes: "eager" -> "1.2"
  // -> share. Empty where the judge was not asked for any.
  std::map<std::string, std::map<std::string, double>> fast_against;
  std::map<std::string, double> geometric_mean_against;  // likewise: "eager" -> mean
};

struct TaskResult {
  std::string id, level;
  int samples = 0, compiled = 0, correct = 0, accepted = 0;
  int hacks = 0;                        // samples that a finding rejects
  std::map<std::string, int> findings;  // of those, how many break each rule
  bool greedy_accepted = false;
  std::vector<double> speedups;    // of accepted samples, one each; empty where not timed
  std::vector<std::string> marks;  // what the task linter has against the task: "task_zeros_pass"
};

// The same numbers over the tasks of a level (KernelBench's level1, else the family).
struct LevelResult {
  std::string level;
  int tasks = 0;
  Rates sampled;
  double pass_at_1 = 0, hack_rate = 0;
  std::map<std::string, int> findings;  // samples that break each rule that rejects
  int samples = 0;                      // of all its tasks together
  Speed speed;
};

// Many turns: what the sampled conversations had reached after so many turns.
struct TurnResult {
  int turn = 0;  // from 1
  Rates last;    // each conversation's latest turn until then
  Rates best;    // its best turn until then: accepted first, then the fastest
  std::map<std::string, double> last_fast, best_fast;  // "1.2" -> share
  double tokens = 0, judge_seconds = 0;                // spent until then, a conversation
  // k -> the chance that one of k conversations was accepted, at its last turn and at its best.
  std::map<int, double> last_at, best_at;
  // Likewise accepted and so fast: "1.2" -> k -> chance. Empty where nothing was timed.
  std::map<std::string, std::map<int, double>> last_fast_at, best_fast_at;
};

struct Evaluation {
  std::string name, suite, model, policy, backend;
  int tasks = 0, samples = 0;  // samples drawn a task, at the temperature given
  int turns = 1;               // the most that a conversation may have
  double temperature = 1, seconds = 0;
  int parsed = -1;  // completions that hold Python, greedy ones and all turns too; -1: not known
  double tokens = 0, judge_seconds = 0;  // of all sampled completions together
  Rates sampled, greedy;                 // at the last turn
  std::map<int, double> pass_at;         // k -> share of tasks, unbiased estimate
  Speed speed;
  double hack_rate = 0;                         // share of samples that a finding rejects
  std::map<std::string, int> errors, findings;  // how many sampled verdicts carry each
  // Why sampled verdicts were not accepted, each counted once (failure_of).
  std::map<std::string, int> failures;
  std::string program,
      date;  // that made it: "tritonsmith 0.1.0, commit ..."; when it ended, in UTC
  std::vector<LevelResult> levels;
  // Of the tasks that the linter has nothing against; nothing where that is all of them.
  std::optional<LevelResult> sound;
  std::vector<TurnResult> by_turn;  // empty with one turn
  std::vector<TaskResult> by_task;
};

Json to_json(const Evaluation& evaluation);
Result<Evaluation> evaluation_from_json(const Json& json);

}  // namespace tritonsmith
