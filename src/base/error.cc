#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace tritonsmith {
namespace {

// Advice for errors that a user can correct. The other errors explain themselves.
std::string_view advice_for(int code) {
  switch (code) {
    case ENOSPC:
    case EDQUOT:
      return "; make room there and call again";
    case EADDRINUSE:
      return "; another program listens there: choose another port";
    case EROFS:
      return "; choose a place that can be written to";
    default:
      return "";
  }
}

}  // namespace

tl::unexpected<Error> fail_errno(std::string_view what) {
  const int code = errno;
  return fail("{}: {}{}", what, std::system_category().message(code), advice_for(code));
}

}  // namespace tritonsmith
