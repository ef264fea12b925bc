#include "gym/compile/patience.h"

#include <algorithm>
#include <cstdlib>

namespace tritonsmith::gym::compile {

std::chrono::nanoseconds limit_under_load(std::chrono::nanoseconds limit, double load, int cores) {
  const double times = std::clamp(load / std::max(1, cores), 1.0, kMostPatience);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(limit * times);
}

double load_of_machine() {
  double last_minute = 0;
  return ::getloadavg(&last_minute, 1) == 1 ? last_minute : 0;
}

}  // namespace tritonsmith::gym::compile
