// History: everything that a search has asked and learned. Strategies are functions of it, so a
// search that was killed goes on by reading its record into a History.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/attempt.h"

namespace tritonsmith::search {

struct Spent {
  int judgements = 0;  // of different kernels
  std::int64_t tokens = 0;
  double money = 0;
};

class History {
 public:
  // An ask's number is the number of asks before it.
  void begin(const Ask& ask);
  void finish(Attempt attempt, double money);

  const std::vector<Ask>& asks() const { return asks_; }
  int in_flight() const { return static_cast<int>(asks_.size() - finished_.size()); }
  // Nothing while it is in flight.
  const Attempt* attempt(int number) const;
  // In the order in which they finished.
  const std::vector<int>& finished() const { return finished_; }
  const Spent& spent() const { return spent_; }

  // The attempt that has this very kernel and was judged, or is about to be.
  std::optional<int> first_with(const std::string& kernel) const;
  // Called before the kernel goes to the judge.
  void claim(const std::string& kernel, int number) { first_with_.emplace(kernel, number); }
  void release(const std::string& kernel) { first_with_.erase(kernel); }

  // The best accepted attempt whose PTX is the compiler's own (ptx_edits.h has the others).
  std::optional<int> best() const { return best_; }
  // Attempts that finished since the best one did.
  int since_best() const { return since_best_; }
  // The attempts before round `round` that hold a kernel, the best first, each kernel once.
  std::vector<int> ranked(int round) const;

 private:
  std::vector<Ask> asks_;
  std::vector<std::optional<Attempt>> attempts_;
  std::vector<int> finished_;
  std::unordered_map<std::string, int> first_with_;
  std::optional<int> best_;
  int since_best_ = 0;
  Spent spent_;
};

}  // namespace tritonsmith::search
