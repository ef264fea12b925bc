// Searches on a suite: what a strategy finds within a budget. Each task has a search of its own, and
// many run side by side. Every event is a line of search.jsonl, so a killed call goes on where it
// was.
#pragma once

#include "data/timed_devices.h"
#include "eval/evaluate.h"
#include "search/searches.h"

namespace tritonsmith::eval {

struct SearchSuiteOptions {
  std::string suite, model;  // for the record
  search::SearchConfig config;
  generate::SamplingParams sampling;
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::uint64_t seed = 1;
  int side_by_side = 32;            // searches
  std::filesystem::path directory;  // gets options.json, tasks.jsonl, search.jsonl, search.json
  std::string program = {};         // for the record: name, version and commit
  std::function<double(const Usage&)> cost = nullptr;
};

// The unit of a budget: judgements if the search limits them, else attempts. An attempt that repeats
// an earlier kernel, or has none, takes no judgement.
enum class BudgetUnit { attempts, judgements };
BudgetUnit budget_unit(const search::SearchConfig& config);
int budget_of(const search::SearchConfig& config);

// The gain and the cost of the first `budget` attempts or judgements of each search. A search that
// ended earlier counts with what it has. Costs are means over the tasks.
struct AtBudget {
  int budget = 0;
  double accepted = 0;  // share of the tasks
  // Geometric mean of the best ones so far, on the GPU that timed most kernels; 0 without times.
  double speedup = 0;
  double attempts = 0, tokens = 0, judgements = 0, judge_seconds = 0;
};

struct TaskSearch {
  std::string id;
  int attempts = 0;
  int first_accepted = 0;  // counted from 1; 0: none was
  std::optional<double> best_speedup;
  std::string why_over;
};

struct SearchEvaluation {
  std::string strategy, suite, model, policy, program, date;
  Settings config;
  double seconds = 0;
  BudgetUnit unit = BudgetUnit::attempts;
  std::string device;        // the GPU whose times count; empty: nothing was timed
  std::vector<AtBudget> at;  // of a budget of 1, 2, 4, ..., and of all of it
  std::vector<TaskSearch> by_task;
};

// Fails as evaluate() does.
Result<SearchEvaluation> evaluate_search(std::span<const Task> tasks,
                                         const SearchSuiteOptions& options,
                                         const PromptedWriter& prompted, gym::api::Judge& judge);

Json to_json(const SearchEvaluation& evaluation);

// On which GPUs the kernels of these searches were timed.
TimedDevices timed_devices(std::span<const search::Search* const> searches);

// The numbers after that budget. Pure.
AtBudget reached_at(int budget, BudgetUnit unit, std::span<const search::Search* const> searches);

// Rows for a table: strategies side by side, the first row the head.
std::vector<std::vector<std::string>> search_rows(std::span<const SearchEvaluation> evaluations);

}  // namespace tritonsmith::eval

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::eval::BudgetUnit> =
    tritonsmith::names<tritonsmith::eval::BudgetUnit>(
        {{tritonsmith::eval::BudgetUnit::attempts, "attempts"},
         {tritonsmith::eval::BudgetUnit::judgements, "judgements"}});
