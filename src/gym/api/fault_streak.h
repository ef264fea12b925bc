// FaultStreak: counts infrastructure faults in a row, to tell a broken gym from a single failure.
// One infrastructure fault costs its sample. A row of them without a verdict in between means that
// the gym judges nothing. The caller must then stop, because it cannot take a missing verdict for a
// failed kernel. One thread.
#pragma once

#include "base/error.h"
#include "data/verdict.h"

namespace tritonsmith::gym::api {

class FaultStreak {
 public:
  // `limit` faults in a row are too many; at least 1.
  explicit FaultStreak(int limit) : limit_(limit) {}

  // Counts the verdict. Fails with the gym's own message when the limit is reached.
  Status take(const Verdict& verdict) {
    if (verdict.fault != Fault::infrastructure) {
      length_ = 0;
      return ok();
    }
    if (++length_ < limit_) return ok();
    return fail_by_fault(
        "the gym is broken: the last {} verdicts ended in a fault of its own ({}); "
        "`tritonsmith doctor` may say why",
        length_, verdict.error ? verdict.error->message : "no reason given");
  }

 private:
  int limit_;
  int length_ = 0;
};

inline constexpr int kFaultsInARow = 16;

}  // namespace tritonsmith::gym::api
