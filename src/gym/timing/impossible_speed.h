// Finds times that are too short for the task's work. Such a time is wrong, or the kernel left work
// out.
#pragma once

#include <optional>

#include "data/finding.h"
#include "gym/cuda/driver.h"
#include "gym/plan/analysis/cost/roofline.h"

namespace tritonsmith::gym::timing {

// Returns a finding that refuses `milliseconds` where this chip needs longer for `work`.
std::optional<Finding> find_impossible_speed(const plan::analysis::LeastWork& work,
                                             const cuda::GpuFacts& gpu, double milliseconds);

}  // namespace tritonsmith::gym::timing
