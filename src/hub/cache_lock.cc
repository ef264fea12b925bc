#include "hub/cache_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/file.h"

namespace tritonsmith::hub {
namespace {

Status lock(const Fd& fd, const std::filesystem::path& file, const std::function<void()>& on_wait) {
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return ok();
  if (errno == EWOULDBLOCK) on_wait();
  while (::flock(fd.get(), LOCK_EX) != 0)
    if (errno != EINTR) return fail_errno(file.string());
  return ok();
}

// Some versions of Python's filelock remove the file when they release it. Who waited for that file
// then holds a lock that nobody else sees.
bool is_still_there(const Fd& fd, const std::filesystem::path& file) {
  struct stat held = {}, named = {};
  return ::fstat(fd.get(), &held) == 0 && ::stat(file.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

Result<CacheLock> CacheLock::take(const std::filesystem::path& file,
                                  const std::function<void()>& on_wait) {
  TRY(make_directories(file.parent_path()));
  for (;;) {
    constexpr int kMode = 0664;  // users of one group may share a cache
    Fd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
    if (!fd) return fail_errno(file.string());
    TRY(lock(fd, file, on_wait));
    if (is_still_there(fd, file)) return CacheLock(std::move(fd));
  }
}

}  // namespace tritonsmith::hub
