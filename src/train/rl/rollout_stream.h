// RolloutStream: hands over the scored groups of one step, in their order, while the gathering goes
// on. The gathering runs on a thread of its own, or within the first call of next(). The loop's
// thread owns the stream; the destructor waits for the other thread.
#pragma once

#include <future>

#include "base/bounded_queue.h"
#include "train/rl/rollout_gatherer.h"

namespace tritonsmith::train {

class RolloutStream {
 public:
  enum class Runs { on_own_thread, in_next };

  RolloutStream(RolloutGatherer& gatherer, RolloutStart start, Runs runs);

  // Waits for the next group. Returns nothing once all groups are taken, or after a failure.
  std::optional<ScoredGroup> next();
  // Tells whether completions are still written or judged.
  bool is_gathering() const;
  // Returns what the whole gathering gave, once next() has returned nothing; before that it aborts, as
  // a second call does. Fails if the gathering failed.
  Result<GatheringTotals> finish();
  int staleness() const { return start_.staleness; }

 private:
  RolloutStart start_;
  Runs runs_;
  BoundedQueue<ScoredGroup> groups_;
  bool is_drained_ = false;  // next() has returned nothing
  // After the members that its thread uses, because its destructor waits for the thread.
  std::future<Result<GatheringTotals>> gathering_;
};

}  // namespace tritonsmith::train
