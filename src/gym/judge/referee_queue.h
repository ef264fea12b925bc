// RefereeQueue: the waiting jobs for one kind of referee, in the order of their arrival.
// Each referee takes the next job that any referee may run, or that names this referee. Any
// number of threads.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "data/verdict.h"
#include "gym/referee/protocol/referee_job.h"

namespace tritonsmith::gym::judge {

// A candidate's job, or the job of linting a task, which `lint_key` then names.
struct RefereeWork {
  std::uint64_t serial = 0;
  std::string lint_key;
  Backend backend = Backend::evaluate;
  referee::RefereeJob job;
  std::string task_plan;
  std::optional<int> only;  // the number of the referee that runs it
};

class RefereeQueue {
 public:
  // Jobs that arrive after close() are dropped.
  void push(RefereeWork work) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    waiting_.push_back(std::move(work));
    changed_.notify_all();  // the next referee to wake may not be allowed to take it
  }

  // Waits for work. Returns nothing once the queue is closed and holds none for this referee, and
  // at the deadline.
  std::optional<RefereeWork> pop(int referee, Deadline deadline = Deadline::never()) {
    std::unique_lock lock(mutex_);
    while (true) {
      for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
        if (at->only.value_or(referee) != referee) continue;
        std::optional<RefereeWork> mine(std::move(*at));
        waiting_.erase(at);
        return mine;
      }
      if (closed_ || deadline.passed()) return std::nullopt;
      changed_.wait_until(lock, deadline.at());
    }
  }

  bool is_closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RefereeWork> waiting_;
  bool closed_ = false;
};

}  // namespace tritonsmith::gym::judge
