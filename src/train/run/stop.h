// StopFlag: asks a training loop to end. The loop finishes its step, writes a checkpoint and
// returns. StopSignals sets a flag at the first SIGINT or SIGTERM; the second signal kills the
// process.
#pragma once

#include <atomic>

namespace tritonsmith::train {

using StopFlag = std::atomic<bool>;
static_assert(StopFlag::is_always_lock_free, "a signal handler sets it");

// Only one may exist in a process at a time. The flag must outlive it.
class StopSignals {
 public:
  explicit StopSignals(StopFlag& flag);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
};

}  // namespace tritonsmith::train
