// Assistant: the searches of all users. A few run at a time on threads of their own, over one model
// and one judge; others wait. Every attempt is stored before anybody sees it. A search
// that a server leaves unfinished, by its end or by a kill, goes on in the next one that has its
// model. Any thread may call it.
#pragma once

#include <deque>
#include <map>

#include "serve/assistant/search_run.h"
#include "serve/assistant/search_store.h"

namespace tritonsmith::serve::assistant {

struct AssistantConfig {
  int searches = 32;  // searches that run at a time; of one owner at most a quarter of them
  int waiting = 100;  // searches that wait; more are refused
};

struct AssistantParts {
  // Empty: the server has no model. It judges kernels, and searches of earlier servers wait.
  std::vector<ModelUse> models;
  SharedJudge& judge;
  std::function<std::string(const Verdict&)> words;  // a verdict for people
};

struct SearchCounts {
  int running = 0, waiting = 0;
};

class Assistant {
 public:
  static Result<std::unique_ptr<Assistant>> open(const std::filesystem::path& store_file,
                                                 AssistantConfig config, AssistantParts parts);
  ~Assistant();  // unfinished searches stay so in the store

  // Returns the new search's id. It cannot be guessed, and everybody who has it may see the search.
  Result<std::string> start(SearchOrder order, const std::string& owner,
                            SearchLife life = SearchLife::in_history);
  // Stops the search. Does nothing if there is no such search, or if it has ended. Fails if it
  // belongs to another owner.
  Status stop(const std::string& id, const std::string& owner);
  Result<Json> list(const std::string& owner) const;  // the newest 200, without sources
  // {"search": ..., "attempts": [...]} from attempt `from` on; nothing without such a search.
  Result<std::optional<Json>> show(const std::string& id, int from) const;
  // The same once it differs from what a caller saw at `version`, or at the deadline. "version" and
  // "live" (counts of what was written and judged, and is awaited) are added while it runs.
  Result<std::optional<Json>> wait(const std::string& id, int from, std::uint64_t version,
                                   Deadline deadline) const;
  SearchCounts counts() const;

 private:
  struct Search {
    SearchRecord record;
    std::uint64_t version = 1;
    int written = 0, judged = 0;           // completions
    std::size_t writing = 0, judging = 0;  // those that are awaited now
    bool is_stopped = false;
    bool is_running = false;  // a thread has taken it
    TimePoint began = {};
    double earlier_seconds = 0;  // of earlier servers
  };
  Assistant(std::unique_ptr<SearchStore> store, AssistantConfig config, AssistantParts parts)
      : store_(std::move(store)), config_(config), parts_(std::move(parts)) {}
  void work(const std::stop_token& stop);
  std::deque<std::shared_ptr<Search>>::iterator next();
  void run(const std::shared_ptr<Search>& search, const std::stop_token& stop);
  Status go_on();  // with what an earlier server left
  const ModelUse* model_of(const SearchOrder& order) const;
  bool can_do(const SearchOrder& order) const;
  Status search_on(Search& search, const std::stop_token& stop);
  Status take(Search& search, const search::Attempt& attempt, const std::vector<Verdict>& calls);
  void finish(Search& search, const Status& status, bool server_ends);
  void change(Search& search);

  std::unique_ptr<SearchStore> store_;
  AssistantConfig config_;
  AssistantParts parts_;

  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable_any changed_;
  std::map<std::string, std::shared_ptr<Search>> live_;  // queued and running
  std::deque<std::shared_ptr<Search>> queue_;
  std::vector<std::jthread> threads_;
};

}  // namespace tritonsmith::serve::assistant
