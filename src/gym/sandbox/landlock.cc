#include "gym/sandbox/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tritonsmith::gym::sandbox {
namespace {

using Rights = unsigned long long;

// Declared in linux/landlock.h of ABI 6 and later.
struct RulesetAttributes {
  Rights handled_access_fs, handled_access_net, scoped;
};
constexpr Rights kTruncate = 1ULL << 14;                 // ABI 3
constexpr Rights kIoctlDevice = 1ULL << 15;              // ABI 5
constexpr Rights kTcpBindAndConnect = 0b11;              // ABI 4
constexpr Rights kAbstractUnixSocketsAndSignals = 0b11;  // ABI 6

constexpr Rights kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr Rights kWrite = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                          LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                          LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM |
                          LANDLOCK_ACCESS_FS_REFER | kTruncate;
constexpr Rights kExecute = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr Rights kOfFiles = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |
                            LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDevice;

Rights known_to(int abi) {
  Rights all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (abi >= 2) all |= LANDLOCK_ACCESS_FS_REFER;
  if (abi >= 3) all |= kTruncate;
  if (abi >= 5) all |= kIoctlDevice;
  return all;
}

std::size_t size_known_to(int abi) {
  if (abi >= 6) return sizeof(RulesetAttributes);
  return abi >= 4 ? 2 * sizeof(Rights) : sizeof(Rights);
}

}  // namespace

Landlock::Landlock(const std::vector<std::string>& readable,
                   const std::vector<std::string>& writable,
                   const std::vector<std::string>& executable) {
  abi_ = static_cast<int>(
      ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
  if (abi_ < 1) {
    error_ = errno;
    abi_ = 0;
    return;
  }
  const RulesetAttributes attributes{.handled_access_fs = known_to(abi_),
                                     .handled_access_net = kTcpBindAndConnect,
                                     .scoped = kAbstractUnixSocketsAndSignals};
  ruleset_ =
      static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size_known_to(abi_), 0));
  if (ruleset_ < 0) {
    error_ = errno;
    return;
  }
  for (const auto& path : readable) allow(path, kRead);
  for (const auto& path : writable) allow(path, kRead | kWrite);
  for (const auto& path : executable) allow(path, kExecute);
}

Landlock::~Landlock() {
  if (ruleset_ >= 0) ::close(ruleset_);
}

void Landlock::allow(const std::string& path, Rights rights) {
  const int fd = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (fd < 0) return;  // a missing path needs no rule
  struct stat status {};
  ::fstat(fd, &status);
  if (!S_ISDIR(status.st_mode)) rights &= kOfFiles;
  const landlock_path_beneath_attr rule{.allowed_access = rights & known_to(abi_), .parent_fd = fd};
  if (::syscall(SYS_landlock_add_rule, ruleset_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) != 0)
    error_ = errno;
  ::close(fd);
}

int Landlock::enforce() const {
  if (error_ != 0) return error_;
  return ::syscall(SYS_landlock_restrict_self, ruleset_, 0) == 0 ? 0 : errno;
}

}  // namespace tritonsmith::gym::sandbox
