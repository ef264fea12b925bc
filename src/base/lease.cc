#include "base/lease.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/check.h"

namespace tritonsmith {
namespace {

// Opens read-only, which suffices for a lock. A user who may not write another user's file can then
// still lock it.
Result<Fd> open_file(const std::filesystem::path& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!fd) return fail_errno(path.string());
  return fd;
}

// flock has no timeout, so the lock is tried again every millisecond.
bool lock_by(const Fd& fd, int operation, Deadline deadline) {
  while (::flock(fd.get(), operation | LOCK_NB) != 0) {
    if (deadline.passed()) return false;
    ::poll(nullptr, 0, 1);
  }
  return true;
}

void unlock(const Fd& fd) { ::flock(fd.get(), LOCK_UN); }

}  // namespace

Result<Lease> Lease::open(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.parent_path();
  // independent of the umask
  if (::mkdir(folder.c_str(), 0777) == 0) ::chmod(folder.c_str(), 01777);
  TRY_ASSIGN(Fd lock, open_file(file));
  TRY_ASSIGN(Fd gate, open_file(file.string() + ".gate"));
  return Lease(std::move(lock), std::move(gate));
}

bool Lease::take(Hold hold, Deadline deadline) {
  CHECK(!is_held_, "a lease is taken twice");
  if (!lock_by(gate_, LOCK_EX, deadline)) return false;
  is_held_ = lock_by(lock_, hold == Hold::alone ? LOCK_EX : LOCK_SH, deadline);
  unlock(gate_);
  return is_held_;
}

void Lease::give_back() {
  if (!is_held_) return;
  unlock(lock_);
  is_held_ = false;
}

bool Lease::is_wanted() const {
  if (::flock(gate_.get(), LOCK_EX | LOCK_NB) != 0) return true;
  unlock(gate_);
  return false;
}

}  // namespace tritonsmith
