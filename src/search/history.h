// History: the asks and the finished attempts of a search. A strategy is a function of the History,
// so a search that was killed continues once its record is read into one.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "search/attempt.h"

namespace tritonsmith::search {

struct Spent {
  int judgements = 0;  // equal kernels count once
  std::int64_t tokens = 0;
  double money = 0;
};

class History {
 public:
  // Adds an ask. Its number must be the number of asks before it.
  void begin(const Ask& ask);
  void finish(Attempt attempt);

  const std::vector<Ask>& asks() const { return asks_; }
  int in_flight() const { return static_cast<int>(asks_.size() - finished_.size()); }
  // Returns null while the attempt is in flight.
  const Attempt* attempt(int number) const;
  // Returns the finished attempts in the order in which they finished.
  const std::vector<int>& finished() const { return finished_; }
  const Spent& spent() const { return spent_; }

  // Returns the attempt with this very kernel that claimed it: the one that the judge gets.
  std::optional<int> first_with(const std::string& kernel) const;
  // The search claims a kernel before it goes to the judge.
  void claim(const std::string& kernel, int number) { first_with_.emplace(kernel, number); }
  void release(const std::string& kernel) { first_with_.erase(kernel); }

  // Returns the best accepted attempt without edited PTX (ptx_edits.h has the others).
  std::optional<int> best() const { return best_; }
  // Returns how many attempts finished after the best one.
  int since_best() const { return since_best_; }
  // Returns the attempts with a kernel from before `round`, the best first, each kernel once.
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
