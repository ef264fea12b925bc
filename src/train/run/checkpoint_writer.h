// CheckpointWriter: writes checkpoints into a CheckpointStore while training goes on, one at a
// time. The written data must not change meanwhile, so it is a snapshot. A process that dies during
// a write leaves the previous checkpoint, as the store promises. One thread calls it. The
// destructor waits for the write in progress.
#pragma once

#include <future>

#include "train/run/checkpoint_store.h"

namespace tritonsmith::train {

class CheckpointWriter {
 public:
  explicit CheckpointWriter(CheckpointStore store) : store_(std::move(store)) {}

  const CheckpointStore& store() const { return store_; }
  // Waits for the previous write, fails if that one failed, and begins the next. `write` runs on
  // another thread and owns all its data.
  Status begin(std::int64_t step, CheckpointStore::Write write);
  // The same for the part of one rank among several. The first rank publishes the whole.
  Status begin_part(const CheckpointStore::Part& part, CheckpointStore::Write write);
  // Waits for the write in progress and returns its result.
  Status finish();
  bool is_busy() const;

 private:
  CheckpointStore store_;
  std::future<Status> writing_;  // not valid: none
};

}  // namespace tritonsmith::train
