// Takes time out of this process's clock. A referee that waits for its neighbours on a GPU does so: the
// wait then counts for no deadline and no stopwatch of its job (gym/referee/serve.cc).
#pragma once

#include <chrono>

namespace tritonsmith {

// From now on system_clock() is behind by so much more. A thread that compares the time of another
// clock with a Deadline would be wrong, so only programs without such threads call this.
void take_out_of_system_clock(std::chrono::nanoseconds span);

}  // namespace tritonsmith
