#include "algorithm/profile_rejection.h"

#include <algorithm>

namespace tritonsmith::algorithm {

double keep_probability(const Verdict& verdict, const ProfileRejection& options) {
  if (!verdict.accepted || !verdict.coverage) return 1;
  if (options.keep_speedup > 0 && verdict.speedup.value_or(0) >= options.keep_speedup) return 1;
  const double above = *verdict.coverage - options.begin;
  if (options.width <= 0) return above >= 0 ? 1 : 0;
  return std::clamp(above / options.width, 0.0, 1.0);
}

}  // namespace tritonsmith::algorithm
