// Lists the chips that a judge can compile for, by compute capability. A capture sees the
// properties of each, by gym/guest/virtual_gpu/device_properties.py. A GPU of this machine may be
// another chip.
#pragma once

#include <array>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::gym::compile {

inline constexpr std::array<std::string_view, 6> kTargets = {"sm_80", "sm_86",  "sm_89",
                                                             "sm_90", "sm_100", "sm_120"};
inline constexpr std::string_view kDefaultTarget = "sm_90";

// Fails with the list unless the name is empty or one of kTargets.
Status check_target(std::string_view name);

}  // namespace tritonsmith::gym::compile
