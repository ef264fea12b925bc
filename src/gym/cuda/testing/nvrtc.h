// Where the pinned environment's NVRTC is; empty where it has none.
#pragma once

#include <string_view>

namespace tritonsmith::gym::cuda {

inline constexpr std::string_view kNvrtc = TRITONSMITH_NVRTC;

}  // namespace tritonsmith::gym::cuda
