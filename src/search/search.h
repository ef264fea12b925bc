// Search: one search for a fast verified kernel. It decides what is asked next, takes completions and
// verdicts, writes every event into its log before it goes on, and knows when to end. It waits for
// nothing: Searches (searches.h) moves requests and jobs between it, a writer and a judge. One
// thread.
#pragma once

#include <deque>

#include "base/clock.h"
#include "data/task.h"
#include "generate/writer.h"
#include "gym/api/judge.h"
#include "search/messages.h"
#include "search/search_log.h"

namespace tritonsmith::search {

struct SearchRequest {
  Task task;
  Prompting prompting;
  generate::SamplingParams sampling;  // the first attempt is greedy all the same
  Policy policy = Policy::strict;
  Backend backend = Backend::automatic;
  int trials = 3;
  std::vector<std::string> baselines = {};
  std::uint64_t seed = 1;
  SearchConfig config;
  std::function<double(const Usage&)> cost = nullptr;  // by the model's prices
};

class Search {
 public:
  // The log must outlive the search.
  Search(SearchRequest request, SearchLog& log) : request_(std::move(request)), log_(log) {}

  // Takes what an earlier process did: the log's events, in order. Called before anything else.
  Status resume(const std::vector<Json>& events);

  // Nothing: no worker is free, or what is in flight must end first, or the search is over. The
  // writer is asked only whether its context has room. The ids are the numbers of asks.
  Result<std::optional<generate::WriteRequest>> next_request(const generate::Writer& writer);
  Result<std::optional<gym::api::JudgeJob>> next_job();
  Status take(const generate::Written& written);
  Status take(int number, Verdict verdict);
  // A finished attempt, which the history holds: each one once, those of earlier processes never.
  std::optional<int> next_finished();
  std::size_t unseen() const { return finished_.size(); }  // that next_finished() has to give

  // Ends the search from outside, for example because its owner stopped it.
  Status end(std::string why);
  // Looks at the budget, too.
  Result<bool> is_over();
  const std::string& why_over() const { return why_over_; }  // "64 attempts were made"
  const History& history() const { return history_; }
  const SearchRequest& request() const { return request_; }
  double seconds() const { return earlier_seconds_ + watch_.seconds(); }

 private:
  Status resume_one(const Json& event);
  Status begin(const Ask& ask);
  void take_text(int number, std::string text, FinishReason finish, const Usage& usage);
  // The kernel goes to the judge, or waits for the verdict on an equal one.
  Status place(int number);
  Status conclude(int number, Verdict verdict, int same_as);
  void finish(int number, Verdict verdict, int same_as, double seconds);
  Result<std::optional<Ask>> choose();

  SearchRequest request_;
  SearchLog& log_;
  History history_;
  std::map<int, Attempt> open_;            // written, and not judged
  std::map<int, std::vector<int>> twins_;  // the judged attempt -> those that wait for its verdict
  std::deque<int> unasked_;                // an earlier process asked these, and got no answer
  std::deque<int> unjudged_;               // their kernels go to the judge next
  std::deque<int> finished_;               // for next_finished()
  std::string why_over_;
  double earlier_seconds_ = 0;
  Stopwatch watch_;
};

}  // namespace tritonsmith::search
