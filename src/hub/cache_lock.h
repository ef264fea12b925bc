// CacheLock is the lock that a process holds while it fetches a blob, so that no other process fetches
// it, too. huggingface_hub takes the same kind of lock (flock) on the same file.
#pragma once

#include <filesystem>
#include <functional>

#include "base/fd.h"

namespace tritonsmith::hub {

class CacheLock {
 public:
  // Waits for another holder, after it has called `on_wait` once.
  static Result<CacheLock> take(const std::filesystem::path& file,
                                const std::function<void()>& on_wait);

 private:
  explicit CacheLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;  // the kernel releases the lock when it is closed
};

}  // namespace tritonsmith::hub
