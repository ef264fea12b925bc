// Searches: runs searches side by side over one writer and one judge. It fills the workers of each
// search, takes completions and verdicts as they come, and cancels what is in flight when a search
// ends. One thread calls it.
#pragma once

#include <chrono>
#include <map>
#include <set>

#include "episode/episodes.h"
#include "gym/api/fault_streak.h"
#include "search/search.h"

namespace tritonsmith::search {

struct SearchesParts {
  generate::Writer& writer;
  gym::api::Judge& judge;
  gym::api::FaultStreak& faults;
  std::function<bool()> is_stopped = nullptr;  // asked several times a second; ends next()
  // Called when a completion was written, or a kernel was judged.
  std::function<void(episode::TurnPhase)> observe = nullptr;
  // Called several times a second with the numbers of answers and of verdicts that are awaited.
  std::function<void(std::size_t, std::size_t)> observe_awaited = nullptr;
  std::chrono::seconds patience{600};  // a gym without a verdict for this long is broken
};

class Searches {
 public:
  explicit Searches(SearchesParts parts) : parts_(std::move(parts)) {}
  ~Searches();  // cancels what is in flight

  // The search must outlive this object, or be over.
  void add(Search& search) { running_.emplace(next_slot_++, RunningSearch{.search = &search}); }
  std::size_t running() const { return running_.size(); }

  // Returns the next attempt that finished, and its search. Returns nothing when all searches are
  // over, or when the caller stopped them.
  struct Finished {
    Search* search = nullptr;
    const Attempt* attempt = nullptr;
  };
  Result<std::optional<Finished>> next();

 private:
  struct RunningSearch {
    Search* search = nullptr;
    std::set<int> writing, judging;  // numbers of asks
  };
  using Slot = std::uint64_t;
  Status feed(Slot slot, RunningSearch& entry);
  Status feed_all();
  Status wait();
  Result<bool> take_written(Deadline deadline);
  Result<bool> take_verdict(Deadline deadline);
  void cancel(Slot slot, const RunningSearch& entry);
  std::size_t count(std::set<int> RunningSearch::*what) const;

  SearchesParts parts_;
  std::map<Slot, RunningSearch> running_;
  Slot next_slot_ = 0;
  TimePoint last_verdict_ = system_clock().now();  // or when judging began
};

}  // namespace tritonsmith::search
