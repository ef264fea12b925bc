#include "train/checkpoint_writer.h"

#include "train/training_run.h"

namespace tritonsmith::train {

Status CheckpointWriter::begin(std::int64_t step, CheckpointStore::Write write) {
  TRY(finish());
  // The thread has its own copy of the store (a path and a policy): this object may be moved.
  writing_ = std::async(std::launch::async, [store = store_, step, write = std::move(write)] {
    return without_exceptions([&] { return store.save(step, write); });
  });
  return ok();
}

Status CheckpointWriter::finish() { return writing_.valid() ? writing_.get() : ok(); }

}  // namespace tritonsmith::train
