// SearchRun: the work on one order, with no memory of its own: a search by the model and the judge,
// or one judgement. Each attempt is reported as soon as it is judged. Both fail if the model or the
// judge is broken.
#pragma once

#include <functional>
#include <set>

#include "search/searches.h"
#include "serve/assistant/search_order.h"
#include "serve/assistant/shared_judge.h"
#include "serve/openai/shared_model.h"

namespace tritonsmith::serve::assistant {

// How the model is asked. Any thread may call `prompt`.
struct ModelUse {
  std::string name;
  openai::SharedModel& model;
  std::function<std::vector<text::Message>(const Task&)> prompt;
  text::PromptStyle feedback = text::PromptStyle::full;
  int max_new_tokens = 2048;
};

struct RunEvents {
  // An accepted kernel of a module with several calls also has a verdict for each of them.
  std::function<Status(const search::Attempt&, const std::vector<Verdict>& calls)> on_attempt;
  std::function<void(episode::TurnPhase)> on_phase;  // a completion was written, or judged
  // The numbers of answers and of verdicts that are awaited, several times a second.
  std::function<void(std::size_t, std::size_t)> on_awaited;
  std::function<bool()> is_stopped;  // asked several times a second
};

// The part of the search that an earlier server did.
struct EarlierRun {
  std::vector<Json> events;  // of its log
  std::set<int> reported;    // the numbers of the attempts that on_attempt got
};

Status run_judgement(const SearchOrder& order, SharedJudge& judge, const RunEvents& events);

// Returns when the budget is used up, when the order has enough, or when it is stopped. Returns why it
// ended; nothing if it was stopped.
Result<std::string> run_search(const SearchOrder& order, const ModelUse& use, SharedJudge& judge,
                               search::SearchLog& log, const EarlierRun& earlier,
                               const RunEvents& events);

}  // namespace tritonsmith::serve::assistant
