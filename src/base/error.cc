#include "base/error.h"

#include <cerrno>
#include <system_error>

namespace tritonsmith {

tl::unexpected<Error> fail_errno(std::string_view what) {
  const int code = errno;
  return fail("{}: {}", what, std::system_category().message(code));
}

}  // namespace tritonsmith
