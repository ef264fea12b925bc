// Decides how long the compiler may take for one kernel. Other programs may hold the cores, and
// then a compilation of a few seconds takes many by the clock. So a busy machine extends the limit.
#pragma once

#include <chrono>

namespace tritonsmith::gym::compile {

inline constexpr double kMostPatience = 4;  // times the limit

// Returns the limit by the clock for a compilation that may take `limit` on a core of its own, while
// `load` programs share `cores` cores. It is pure.
std::chrono::nanoseconds limit_under_load(std::chrono::nanoseconds limit, double load, int cores);

// Returns how many programs of this machine ran or waited for a core in the last minute, on average.
// Returns 0 if the system does not tell.
double load_of_machine();

}  // namespace tritonsmith::gym::compile
