#include "train/run/checkpoint_writer.h"

#include <chrono>

#include "train/run/training_run.h"

namespace tritonsmith::train {

Status CheckpointWriter::begin(std::int64_t step, CheckpointStore::Write write) {
  TRY(finish());
  // The thread has its own copy of the store (a path and a policy), because this object may move.
  writing_ = std::async(std::launch::async, [store = store_, step, write = std::move(write)] {
    return without_exceptions([&] { return store.save(step, write); });
  });
  return ok();
}

Status CheckpointWriter::begin_part(const CheckpointStore::Part& part,
                                    CheckpointStore::Write write) {
  TRY(finish());
  writing_ = std::async(std::launch::async, [store = store_, part, write = std::move(write)] {
    return without_exceptions([&] { return store.write_part(part, write); });
  });
  return ok();
}

bool CheckpointWriter::is_busy() const {
  return writing_.valid() &&
         writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

Status CheckpointWriter::finish() { return writing_.valid() ? writing_.get() : ok(); }

}  // namespace tritonsmith::train
