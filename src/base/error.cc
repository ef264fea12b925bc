#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace tritonsmith {

tl::unexpected<Error> fail_errno(std::string_view what) {
  const int code = errno;
  const std::string_view advice =
      code == ENOSPC || code == EDQUOT ? "; make room there and call again" : "";
  return fail("{}: {}{}", what, std::system_category().message(code), advice);
}

}  // namespace tritonsmith
