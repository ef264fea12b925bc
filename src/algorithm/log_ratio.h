#pragma once

namespace tritonsmith::algorithm {

// A token's log-ratio of two policies is bounded by this before it goes through exp.
inline constexpr double kLargestLogRatio = 20.0;

}  // namespace tritonsmith::algorithm
