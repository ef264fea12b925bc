// StopFlag: how a training loop is asked to end: it finishes its step, writes a checkpoint and
// returns. StopSignals sets one at the first SIGINT or SIGTERM; the second kills, as ever.
#pragma once

#include <atomic>

namespace tritonsmith::train {

using StopFlag = std::atomic<bool>;
static_assert(StopFlag::is_always_lock_free, "a signal handler sets it");

// One at a time in a process; the flag must outlive it.
class StopSignals {
 public:
  explicit StopSignals(StopFlag& flag);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

}  // namespace tritonsmith::train
