// Outbox: passes verdicts from the threads of a Judge to its caller. It holds the finished
// verdicts, the number of unfinished jobs and the error that broke the judge, if any. Any
// thread may call it.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

class Outbox {
 public:
  // Blocks until fewer than `limit` jobs are unfinished, then counts one more.
  Status enter(std::size_t limit);
  void deliver(Judged judged);
  // Counts a job as finished that will have no verdict.
  void drop();
  // Makes every later call of enter and take fail with this error.
  void break_down(Error error);

  // Returns the next finished verdict, or nothing at the deadline or when no job is unfinished.
  Result<std::optional<Judged>> take(Deadline deadline);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Judged> finished_;
  std::size_t unfinished_ = 0;
  std::optional<Error> broken_;
};

}  // namespace tritonsmith::gym::api
