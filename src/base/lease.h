// Lease: a thing that processes of one machine use by turns; here a GPU, on which many may work at
// once, except while one times something. A lock on a file (flock), so it ends with the process
// that holds it. A second lock, on FILE.gate, keeps the turns fair: whoever wants in holds the gate
// while it waits, and nobody passes it at the gate; so one who gives the lease back and takes it
// again at once lets those in who waited. That the gate is held is also how a holder learns that
// somebody waits.
//
// One thread uses a Lease; another thread opens its own. May fail: the files cannot be made.
#pragma once

#include <filesystem>

#include "base/clock.h"
#include "base/fd.h"

namespace tritonsmith {

class Lease {
 public:
  // shared: beside other sharers; alone: beside nobody.
  enum class Hold { shared, alone };

  // Makes the files where they are missing, and their folder, which every user may write to: turns
  // are taken between the processes of several users too.
  static Result<Lease> open(const std::filesystem::path& file);

  // Must not be held. False when the deadline passed first: whoever holds it may be broken, and the
  // caller decides what that is worth.
  [[nodiscard]] bool take(Hold hold, Deadline deadline);
  void give_back();
  bool is_held() const { return is_held_; }
  // Whether somebody waits for it.
  bool is_wanted() const;

 private:
  Lease(Fd lock, Fd gate) : lock_(std::move(lock)), gate_(std::move(gate)) {}
  Fd lock_, gate_;
  bool is_held_ = false;
};

}  // namespace tritonsmith
