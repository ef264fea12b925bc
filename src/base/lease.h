// Lease: a lock that the processes of one machine share, here on a GPU. Many processes may hold it
// together to work on the GPU; a process that measures time holds it alone. The lock is a file lock
// (flock), so the kernel releases it when its process ends.
//
// A second lock, on FILE.gate, makes the order fair. A process that waits for the lease holds the
// gate, so no other process can overtake it. A holder that gives the lease back and takes it again
// at once lets the waiting process go first. A holder also learns from the gate that another
// process waits.
//
// One thread uses a Lease object; another thread opens its own. Opening fails if the files cannot
// be made.
#pragma once

#include <filesystem>

#include "base/clock.h"
#include "base/fd.h"

namespace tritonsmith {

class Lease {
 public:
  // shared: together with other shared holders. alone: with no other holder.
  enum class Hold { shared, alone };

  // Makes the lock files and their folder if they are missing. Every user may write to the folder,
  // because the processes of several users share a GPU.
  static Result<Lease> open(const std::filesystem::path& file);

  // The caller must not hold the lease already. Returns false when the deadline passes first. The
  // holder may then be stuck; the caller decides how to go on.
  [[nodiscard]] bool take(Hold hold, Deadline deadline);
  void give_back();
  bool is_held() const { return is_held_; }
  // Tells whether another process waits for the lease.
  bool is_wanted() const;

 private:
  Lease(Fd lock, Fd gate) : lock_(std::move(lock)), gate_(std::move(gate)) {}
  Fd lock_, gate_;
  bool is_held_ = false;
};

}  // namespace tritonsmith
