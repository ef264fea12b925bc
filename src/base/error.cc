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

// The machine could not do what it was rightly asked.
ErrorKind kind_of(int code) {
  for (const int fault : {ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, EAGAIN})
    if (code == fault) return ErrorKind::fault;
  return ErrorKind::input;
}

}  // namespace

tl::unexpected<Error> fail_errno(std::string_view what) {
  const int code = errno;
  return tl::unexpected<Error>(
      Error{fmt::format("{}: {}{}", what, std::system_category().message(code), advice_for(code)),
            kind_of(code)});
}

}  // namespace tritonsmith
