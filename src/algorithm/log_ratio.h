// Limits a token's log-ratio of two policies before exp, so that one far token does not dominate a
// loss or overflow.
#pragma once

namespace tritonsmith::algorithm {

// The limit of a token's log-ratio of two policies before exp.
inline constexpr double kLargestLogRatio = 20.0;

}  // namespace tritonsmith::algorithm
