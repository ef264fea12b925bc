#include "gym/compile/targets.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/printable.h"

namespace tritonsmith::gym::compile {

Status check_target(std::string_view name) {
  if (name.empty() || std::ranges::find(kTargets, name) != kTargets.end()) return ok();
  return fail("the target '{}' is not known; name one of {}", printable(name),
              fmt::join(kTargets, ", "));
}

}  // namespace tritonsmith::gym::compile
