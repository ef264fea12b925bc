#include "eval/search_suite.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/file.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/utc_time.h"
#include "eval/kept_options.h"
#include "eval/metrics.h"
#include "search/recorded_search.h"

namespace tritonsmith::eval {
namespace {

Json what_decides(const SearchSuiteOptions& options) {
  Json decides = shared_options(options);
  decides["model"] = settled_model(options.model);
  for (const auto& [name, value] : settings_of(options.config)) decides["search." + name] = value;
  return decides;
}

struct TaskInSearch {
  search::TaskLog log;
  search::Search search;

  TaskInSearch(search::SearchFile& file, search::SearchRequest request)
      : log(file, request.task.id), search(std::move(request), log) {}
};

class SuiteSession {
 public:
  SuiteSession(std::span<const Task> tasks, const SearchSuiteOptions& options,
               const PromptedWriter& prompted, gym::api::Judge& judge)
      : tasks_(tasks),
        options_(options),
        prompted_(prompted),
        faults_(gym::api::kFaultsInARow),
        searches_({.writer = prompted.writer,
                   .judge = judge,
                   .faults = faults_,
                   .patience = std::chrono::hours(24)}),
        progress_(fmt::format("search {}", name_of(options.config.strategy)), tasks.size()) {}

  Result<SearchEvaluation> run() {
    const Stopwatch watch;
    TRY(make_directories(options_.directory));
    TRY(keep_options(options_.directory, what_decides(options_)));
    TRY(search::keep_tasks(options_.directory, tasks_));
    TRY_ASSIGN(auto file, search::SearchFile::open(options_.directory / "search.jsonl"));
    for (const Task& task : tasks_) TRY(prepare(task, file));
    std::size_t begun = 0;
    for (;;) {
      while (begun < all_.size() &&
             searches_.running() < static_cast<std::size_t>(options_.side_by_side))
        searches_.add(all_[begun++]->search);
      TRY_ASSIGN(const auto finished, searches_.next());
      progress_.advance_to(begun - searches_.running(),
                           fmt::format("accepted {}", accepted_tasks()));
      if (!finished && begun == all_.size()) break;
    }
    return finish(watch.seconds());
  }

 private:
  Status prepare(const Task& task, search::SearchFile& file) {
    all_.push_back(std::make_unique<TaskInSearch>(
        file, search::SearchRequest{
                  .task = task,
                  .prompting = {.prompt = prompted_.prompt(task), .style = prompted_.feedback},
                  .sampling = options_.sampling,
                  .policy = options_.policy,
                  .backend = options_.backend,
                  .trials = options_.trials,
                  .seed = Rng(options_.seed, "suite", all_.size()).next_u64(),
                  .config = options_.config,
                  .cost = options_.cost}));
    return all_.back()->search.resume(file.past(task.id));
  }

  std::size_t accepted_tasks() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        all_, [](const auto& each) { return each->search.history().best().has_value(); }));
  }

  Result<SearchEvaluation> finish(double seconds) const {
    SearchEvaluation evaluation{.strategy = std::string(name_of(options_.config.strategy)),
                                .suite = options_.suite,
                                .model = options_.model,
                                .policy = std::string(name_of(options_.policy)),
                                .program = options_.program,
                                .date = utc_time(),
                                .config = settings_of(options_.config),
                                .seconds = seconds,
                                .unit = budget_unit(options_.config)};
    std::vector<const search::Search*> searches;
    for (const auto& each : all_) searches.push_back(&each->search);
    const TimedDevices devices = timed_devices(searches);
    evaluation.device = devices.most();
    if (const auto elsewhere = devices.others_than(evaluation.device); !elsewhere.empty())
      LOG("search: times of other GPUs do not count: {} (--gym-device NAME asks for one kind)",
          elsewhere);
    for (const auto& each : all_)
      evaluation.by_task.push_back(task_search(each->search, evaluation.device));
    const int whole = budget_of(options_.config);
    for (int budget = 1; budget < whole; budget *= 2)
      evaluation.at.push_back(reached_at(budget, evaluation.unit, searches));
    evaluation.at.push_back(reached_at(whole, evaluation.unit, searches));
    TRY(write_file_atomic(options_.directory / "search.json", to_json(evaluation).dump(2) + "\n"));
    return evaluation;
  }

  static TaskSearch task_search(const search::Search& search, const std::string& device) {
    const search::History& history = search.history();
    TaskSearch result{.id = search.request().task.id,
                      .attempts = static_cast<int>(history.finished().size()),
                      .why_over = search.why_over()};
    for (const search::Ask& ask : history.asks()) {
      const search::Attempt* attempt = history.attempt(ask.number);
      if (attempt == nullptr || !attempt->verdict.accepted || result.first_accepted != 0) continue;
      result.first_accepted = ask.number + 1;
    }
    for (const search::Ask& ask : history.asks())
      if (const search::Attempt* attempt = history.attempt(ask.number);
          attempt != nullptr && attempt->verdict.accepted && attempt->verdict.speedup &&
          attempt->verdict.environment.gpu == device)
        result.best_speedup = std::max(result.best_speedup.value_or(0), *attempt->verdict.speedup);
    return result;
  }

  std::span<const Task> tasks_;
  const SearchSuiteOptions& options_;
  const PromptedWriter& prompted_;
  std::vector<std::unique_ptr<TaskInSearch>> all_;
  gym::api::FaultStreak faults_;
  search::Searches searches_;  // refers to the searches, so it ends first
  Progress progress_;
};

}  // namespace

BudgetUnit budget_unit(const search::SearchConfig& config) {
  return config.judgements > 0 ? BudgetUnit::judgements : BudgetUnit::attempts;
}

int budget_of(const search::SearchConfig& config) {
  return config.judgements > 0 ? config.judgements : config.attempts;
}

TimedDevices timed_devices(std::span<const search::Search* const> searches) {
  TimedDevices devices;
  for (const search::Search* search : searches)
    for (const search::Ask& ask : search->history().asks())
      if (const search::Attempt* attempt = search->history().attempt(ask.number))
        devices.add(attempt->verdict);
  return devices;
}

AtBudget reached_at(int budget, BudgetUnit unit, std::span<const search::Search* const> searches) {
  AtBudget at{.budget = budget};
  const std::string device = timed_devices(searches).most();
  double logarithms = 0;
  int timed = 0;
  for (const search::Search* search : searches) {
    bool is_accepted = false;
    double best = 0;
    int attempts = 0, judgements = 0;
    for (int number = 0; number < std::ssize(search->history().asks()); ++number) {
      const search::Attempt* attempt = search->history().attempt(number);
      if (attempt == nullptr) continue;  // cancelled when the search ended
      const bool is_judged = !attempt->kernel.empty() && attempt->same_as == search::kNone;
      if (unit == BudgetUnit::attempts && number >= budget) break;
      if (unit == BudgetUnit::judgements && is_judged && judgements >= budget) break;
      ++attempts;
      judgements += is_judged ? 1 : 0;
      at.tokens +=
          static_cast<double>(attempt->usage.prompt_tokens + attempt->usage.completion_tokens);
      const Verdict& verdict = attempt->verdict;
      is_accepted = is_accepted || verdict.accepted;
      if (verdict.accepted && verdict.environment.gpu == device)
        best = std::max(best, verdict.speedup.value_or(0));
      if (is_judged) at.judge_seconds += judge_seconds(verdict);
    }
    at.attempts += attempts;
    at.judgements += judgements;
    at.accepted += is_accepted ? 1 : 0;
    timed += best > 0 ? 1 : 0;
    logarithms += best > 0 ? std::log(best) : 0;
  }
  const double tasks = std::max<double>(1, static_cast<double>(searches.size()));
  for (double* mean : {&at.accepted, &at.attempts, &at.tokens, &at.judgements, &at.judge_seconds})
    *mean /= tasks;
  if (timed > 0) at.speedup = std::exp(logarithms / timed);
  return at;
}

Result<SearchEvaluation> evaluate_search(std::span<const Task> tasks,
                                         const SearchSuiteOptions& options,
                                         const PromptedWriter& prompted, gym::api::Judge& judge) {
  if (tasks.empty()) return fail("there are no tasks to search on");
  return SuiteSession(tasks, options, prompted, judge).run();
}

Json to_json(const SearchEvaluation& evaluation) {
  Json at = Json::array(), tasks = Json::array(), config = Json::object();
  for (const AtBudget& each : evaluation.at)
    at.push_back({{"budget", each.budget},
                  {"accepted", each.accepted},
                  {"speedup", each.speedup > 0 ? Json(each.speedup) : Json()},
                  {"attempts", each.attempts},
                  {"tokens", each.tokens},
                  {"judgements", each.judgements},
                  {"judge_seconds", each.judge_seconds}});
  for (const TaskSearch& task : evaluation.by_task)
    tasks.push_back({{"task", task.id},
                     {"attempts", task.attempts},
                     {"first_accepted", task.first_accepted},
                     {"best_speedup", task.best_speedup ? Json(*task.best_speedup) : Json()},
                     {"why_over", task.why_over}});
  for (const auto& [name, value] : evaluation.config) config[name] = value;
  return {{"strategy", evaluation.strategy},
          {"suite", evaluation.suite},
          {"model", evaluation.model},
          {"policy", evaluation.policy},
          {"program", evaluation.program},
          {"date", evaluation.date},
          {"config", std::move(config)},
          {"seconds", evaluation.seconds},
          {"unit", name_of(evaluation.unit)},
          {"device", evaluation.device},
          {"at", std::move(at)},
          {"by_task", std::move(tasks)}};
}

std::vector<std::vector<std::string>> search_rows(std::span<const SearchEvaluation> evaluations) {
  std::vector<std::vector<std::string>> rows = {{"strategy"}};
  bool is_timed = false;
  for (const SearchEvaluation& each : evaluations) is_timed |= each.at.back().speedup > 0;
  for (const AtBudget& at : evaluations.front().at)
    rows[0].push_back(fmt::format("accepted@{}", at.budget));
  if (is_timed) rows[0].emplace_back("speed-up");
  for (const char* name : {"attempts", "tokens", "judged", "judge s", "tasks"})
    rows[0].emplace_back(name);
  for (const SearchEvaluation& each : evaluations) {
    std::vector<std::string> row = {each.strategy};
    for (const AtBudget& at : each.at) row.push_back(fmt::format("{:.1f} %", 100 * at.accepted));
    const AtBudget& all = each.at.back();
    if (is_timed) row.push_back(all.speedup > 0 ? fmt::format("{:.2f}", all.speedup) : "-");
    row.push_back(fmt::format("{:.1f}", all.attempts));
    row.push_back(fmt::format("{:.0f}", all.tokens));
    row.push_back(fmt::format("{:.1f}", all.judgements));
    row.push_back(fmt::format("{:.1f}", all.judge_seconds));
    row.push_back(std::to_string(each.by_task.size()));
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tritonsmith::eval
