// Search: one search for a fast verified kernel. It decides what to ask next, takes completions and
// verdicts, and decides when to end. It writes every event into its log before it goes on. It never
// waits: Searches (searches.h) carries its requests to a writer, its jobs to a judge, and the
// answers back. One thread uses it.
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
  std::function<double(const Usage&)> cost = nullptr;  // the money that a completion costs
};

class Search {
 public:
  // The log must outlive the search.
  Search(SearchRequest request, SearchLog& log) : request_(std::move(request)), log_(log) {}

  // same: the search ends where its budget ends. other: the search has another budget now, and goes on
  // even if it had ended. The strategy continues, and the last steps follow again.
  enum class ResumedBudget { same, other };
  // Continues the search of an earlier process from the events of its log, in their order. Aborts if
  // this search has asked already.
  Status resume(const std::vector<Json>& events, ResumedBudget budget = ResumedBudget::same);

  // Return the next completion to ask for, and the next kernel to judge. Their ids are the numbers
  // of the asks. They return nothing if all workers are busy, if attempts in flight must end first,
  // or if the search is over. `writer` only tells whether its context has room.
  Result<std::optional<generate::WriteRequest>> next_request(const generate::Writer& writer);
  Result<std::optional<gym::api::JudgeJob>> next_job();
  Status take(const generate::Written& written);
  Status take(int number, Verdict verdict);
  // Returns each finished attempt once, by its number in the history. It leaves out attempts that
  // finished in an earlier process.
  std::optional<int> next_finished();
  // Returns how many attempts next_finished() has yet to return.
  std::size_t unseen() const { return finished_.size(); }

  // Ends the search from outside, for example because its owner stopped it.
  Status end(std::string why);
  // Ends the search if its budget is used up. Then says whether it is over.
  Result<bool> is_over();
  const std::string& why_over() const { return why_over_; }  // "64 attempts were made"
  const History& history() const { return history_; }
  const SearchRequest& request() const { return request_; }
  double seconds() const { return earlier_seconds_ + watch_.seconds(); }

 private:
  Status resume_one(const Json& event);
  Status extend();
  void begin_extension();
  Status begin(const Ask& ask);
  Status check_asked(const Ask& ask) const;
  double cost_of(const Usage& usage) const { return request_.cost ? request_.cost(usage) : 0; }
  // Takes an answer of the model: its text, why it ended, its tokens and its cost.
  void take_answer(int number, Attempt answer);
  // Queues the kernel for the judge. If an equal kernel is being judged, it waits for that verdict.
  Status queue_kernel(int number);
  Status conclude(int number, Verdict verdict, int same_as);
  void finish(int number, Verdict verdict, int same_as, double seconds);
  Result<std::optional<Ask>> choose();

  SearchRequest request_;
  SearchLog& log_;
  History history_;
  std::map<int, Attempt> open_;  // attempts with a kernel and without a verdict
  // For each attempt at the judge, the attempts with an equal kernel, which wait for its verdict.
  std::map<int, std::vector<int>> waiting_;
  std::deque<int> unasked_;   // asks of an earlier process that have no answer
  std::deque<int> unjudged_;  // attempts whose kernels go to the judge next
  std::deque<int> finished_;  // attempts that next_finished() has yet to return
  std::string why_over_;
  int extended_from_ = 0;  // the number of asks when the budget was changed
  double earlier_seconds_ = 0;
  Stopwatch watch_;
};

}  // namespace tritonsmith::search
