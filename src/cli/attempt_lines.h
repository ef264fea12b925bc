// AttemptLines: a line of the log for each attempt of a search, in the order of their numbers. An
// attempt that finishes early waits for those before it.
#pragma once

#include <map>
#include <set>
#include <string>

#include "search/search.h"

namespace tritonsmith::cli {

class AttemptLines {
 public:
  // An earlier process may have finished some attempts, which get no line again.
  explicit AttemptLines(const search::Search& search);
  ~AttemptLines();  // logs the lines that still wait
  AttemptLines(const AttemptLines&) = delete;
  AttemptLines& operator=(const AttemptLines&) = delete;

  // Takes an attempt of the search that has just finished.
  void add(const search::Attempt& attempt);

 private:
  const search::Search& search_;
  std::set<int> earlier_;
  std::map<int, std::string> waiting_;  // by the number of the attempt
  int next_ = 0;
};

// Returns "attempt 3 of 64, changes 1 (12.3 s): accepted, 1.31 times as fast as PyTorch, the best so
// far", or why the kernel was not accepted.
std::string line_of(const search::Attempt& attempt, const search::Search& search);

}  // namespace tritonsmith::cli
