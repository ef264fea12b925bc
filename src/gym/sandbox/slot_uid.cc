#include "gym/sandbox/slot_uid.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

namespace tritonsmith::gym::sandbox {
namespace {

// Debian assigns no user ids between these by default, and containers map at least 65536 ids.
constexpr unsigned kFirst = 58000, kLast = 58999;

}  // namespace

Result<SlotUid> SlotUid::take() {
  if (::geteuid() != 0) return SlotUid(0, Fd());
  for (unsigned uid = kFirst; uid <= kLast; ++uid) {
    Fd lease(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!lease) return fail_errno("cannot lease a user id for a slot");
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string name = fmt::format("tritonsmith-uid-{}", uid);
    std::copy(name.begin(), name.end(), address.sun_path + 1);  // a leading NUL makes it abstract
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::bind(lease.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0)
      return SlotUid(uid, std::move(lease));
  }
  return fail("all user ids from {} to {} are in use by slots; end another tritonsmith", kFirst,
              kLast);
}

}  // namespace tritonsmith::gym::sandbox
