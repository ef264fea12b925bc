// Gives the path of NVRTC in the pinned environment, or an empty string if that has none.
#pragma once

#include <string_view>

namespace tritonsmith::gym::cuda {

inline constexpr std::string_view kNvrtc = TRITONSMITH_NVRTC;

}  // namespace tritonsmith::gym::cuda
