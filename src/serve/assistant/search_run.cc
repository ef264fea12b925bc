#include "serve/assistant/search_run.h"

#include <algorithm>

#include "gym/api/every_task_judge.h"
#include "gym/api/task_check.h"
#include "serve/assistant/order_tasks.h"

namespace tritonsmith::serve::assistant {
namespace {

constexpr Milliseconds kLook{100};

// Every strategy gets as many attempts as the conversations have turns.
search::SearchConfig config_of(const SearchOrder& order) {
  const bool has_turns = order.strategy == search::Strategy::sequential;
  return {.strategy = order.strategy,
          .until = order.enough == Enough::first ? search::Until::first : search::Until::budget,
          .attempts = order.conversations * order.turns,
          .seconds = order.seconds,
          .light = order.light,
          .patience = order.patience,
          .workers = 16,
          .chains = has_turns ? order.conversations : 0,
          .tune = order.tune,
          .turns = {.limit = order.turns, .end_when = episode::EndWhen::fast}};
}

// The verdicts of an accepted kernel on each call, if there are several.
std::vector<Verdict> calls_of(const gym::api::EveryTaskJudge& judge,
                              const modules::ModuleTasks& made, const std::string& kernel) {
  return made.tasks.size() > 1 ? judge.accepted(kernel) : std::vector<Verdict>();
}

}  // namespace

Status run_judgement(const SearchOrder& order, SharedJudge& shared_judge, const RunEvents& events) {
  TRY_ASSIGN(const modules::ModuleTasks made, tasks_of_order(order));
  const auto client = shared_judge.connect();
  gym::api::EveryTaskJudge judge(*client, made.tasks);
  TRY(judge.submit({.task = made.tasks.front(),
                    .kernel = order.kernel,
                    .policy = order.policy,
                    .backend = order.backend,
                    .trials = order.trials,
                    .baselines = order.baselines}));
  const Deadline end = Deadline::in_seconds(order.seconds);
  while (!events.is_stopped() && !end.passed()) {
    TRY_ASSIGN(auto judged, judge.next(Deadline::after(kLook)));
    if (judged)
      return events.on_attempt({.kernel = order.kernel, .verdict = std::move(judged->verdict)},
                               calls_of(judge, made, order.kernel));
  }
  return ok();
}

Result<std::string> run_search(const SearchOrder& order, const ModelUse& use,
                               SharedJudge& shared_judge, search::SearchLog& log,
                               const EarlierRun& earlier, const RunEvents& events) {
  TRY_ASSIGN(const modules::ModuleTasks made, tasks_of_order(order));
  const auto client = shared_judge.connect();
  gym::api::EveryTaskJudge judge(*client, made.tasks);
  const auto writer = use.model.connect();
  const Task& task = made.tasks.front();
  search::Search search(
      {.task = task,
       .prompting = {.prompt = use.prompt(task), .style = use.feedback},
       .sampling = {.temperature = order.temperature, .max_new_tokens = use.max_new_tokens},
       .policy = order.policy,
       .backend = order.backend,
       .trials = order.trials,
       .baselines = order.baselines,
       .seed = order.seed,
       .config = config_of(order)},
      log);
  TRY(search.resume(earlier.events));
  const auto report = [&](const search::Attempt& attempt) {
    return events.on_attempt(attempt, calls_of(judge, made, attempt.kernel));
  };
  // A kill may have come after an attempt was logged and before it was reported.
  const auto& finished = search.history().finished();
  for (std::size_t i = 0; i + search.unseen() < finished.size(); ++i)
    if (!earlier.reported.contains(finished[i]))
      TRY(report(*search.history().attempt(finished[i])));
  if (search.history().asks().empty()) {
    TRY_ASSIGN(const auto why,
               gym::api::why_unjudgeable(*client, made.tasks, order.backend, events.is_stopped));
    if (why) TRY(search.end(*why));
  }
  gym::api::FaultStreak faults(
      std::min(gym::api::kFaultsInARow, order.conversations * order.turns));
  search::Searches searches({.writer = *writer,
                             .judge = judge,
                             .faults = faults,
                             .is_stopped = events.is_stopped,
                             .observe = events.on_phase,
                             .observe_awaited = events.on_awaited});
  searches.add(search);
  for (;;) {
    TRY_ASSIGN(const auto next, searches.next());
    if (!next) return search.why_over();
    TRY(report(*next->attempt));
  }
}

}  // namespace tritonsmith::serve::assistant
