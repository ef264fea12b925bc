// SlotUid: a user id that no other slot on this machine has while this object lives, so that limits
// and signals of one guest never reach another's, not even in another run of the program. Held by
// the name of an abstract Unix socket, which the kernel frees however we end. 0 where we are not
// root and could not change to it anyway.
#pragma once

#include "base/fd.h"

namespace tritonsmith::gym::sandbox {

class SlotUid {
 public:
  static Result<SlotUid> take();
  unsigned value() const { return value_; }

 private:
  SlotUid(unsigned value, Fd lease) : value_(value), lease_(std::move(lease)) {}
  unsigned value_ = 0;
  Fd lease_;
};

}  // namespace tritonsmith::gym::sandbox
