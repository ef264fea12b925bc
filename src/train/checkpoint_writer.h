// CheckpointWriter: writes checkpoints into a CheckpointStore beside the training, one at a time.
// What is written must not change meanwhile: a snapshot. A process that dies during a write leaves
// the checkpoint before it, as the store promises. One thread calls it; the destructor waits for
// the write in progress.
#pragma once

#include <future>

#include "train/checkpoint_store.h"

namespace tritonsmith::train {

class CheckpointWriter {
 public:
  explicit CheckpointWriter(CheckpointStore store) : store_(std::move(store)) {}

  const CheckpointStore& store() const { return store_; }
  // Waits for the write before this one, fails if that failed, and begins the next. `write` runs on
  // another thread and owns all that it needs.
  Status begin(std::int64_t step, CheckpointStore::Write write);
  // The part of one rank among several; the first publishes the whole.
  Status begin_part(const CheckpointStore::Part& part, CheckpointStore::Write write);
  // Waits for the write in progress, and tells how it ended.
  Status finish();
  bool is_busy() const;

 private:
  CheckpointStore store_;
  std::future<Status> writing_;  // not valid: none
};

}  // namespace tritonsmith::train
