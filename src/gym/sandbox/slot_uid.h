// SlotUid: a user id that no other slot on this machine has while this object lives. Limits and
// signals of one guest therefore never reach another guest, not even one of another run. The name
// of an abstract Unix socket holds the id, and the kernel frees that name however the program ends.
// The value is 0 where we are not root and could not change to the id.
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
