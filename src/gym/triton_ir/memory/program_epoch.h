// ProgramEpoch: the epoch of the running program, by which Memory tells its accesses from those of
// other programs. Without atomics each program is one epoch. With atomics an Ordering divides the
// programs into epochs, and knows which epochs of other programs happened before.
#pragma once

#include <optional>

#include "gym/triton_ir/memory/ordering.h"

namespace tritonsmith::gym::triton_ir {

class ProgramEpoch {
 public:
  // The epoch of a suspended program.
  struct Suspended {
    Epoch epoch = 1;
    Ordering::Program ordering;
  };

  // From now on atomics order the programs.
  void order_by_atomics(Ordering::Grain grain) { ordering_.emplace(grain); }

  void start(std::uint32_t program) {
    if (ordering_) ordering_->start(program);
    now_ = ordering_ ? ordering_->epoch() : program + 1;
  }
  Suspended leave() {
    return {.epoch = now_, .ordering = ordering_ ? ordering_->leave() : Ordering::Program{}};
  }
  void resume(Suspended suspended) {
    if (ordering_) ordering_->resume(std::move(suspended.ordering));
    now_ = ordering_ ? ordering_->epoch() : suspended.epoch;
  }
  // Only a kernel with atomics acquires and releases.
  void acquire(std::int64_t address) { ordering_->acquire(address); }
  void release(std::int64_t address) {
    ordering_->release(address);
    now_ = ordering_->epoch();
  }

  Epoch now() const { return now_; }
  bool is_own(Epoch epoch) const {
    return epoch == now_ || (ordering_ && ordering_->is_own(epoch));
  }
  // Says whether all accesses of the epoch happened before the program's next step.
  bool is_known(Epoch epoch) const { return ordering_ && ordering_->is_known(epoch); }
  bool has_acquired() const { return ordering_ && ordering_->has_acquired(); }

 private:
  Epoch now_ = 1;
  std::optional<Ordering> ordering_;
};

}  // namespace tritonsmith::gym::triton_ir
