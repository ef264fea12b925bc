// Outbox: what stands between the caller of a Judge and the threads behind it: finished verdicts,
// the number of jobs not yet finished, and the error that broke the judge, if any. Any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "gym/api/judge.h"

namespace tritonsmith::gym::api {

class Outbox {
 public:
  // Waits until fewer than `limit` jobs are unfinished, and counts one more.
  Status enter(std::size_t limit);
  void deliver(Judged judged);
  // A job that will have no verdict.
  void drop();
  // From now on enter and take fail with this.
  void break_down(Error error);

  // The next finished verdict; nothing at the deadline, or when no job is unfinished.
  Result<std::optional<Judged>> take(Deadline deadline);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Judged> finished_;
  std::size_t unfinished_ = 0;
  std::optional<Error> broken_;
};

}  // namespace tritonsmith::gym::api
