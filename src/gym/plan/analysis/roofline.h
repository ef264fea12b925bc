// SpeedFloor: what a task's forward asks of any kernel: bytes that must cross the memory's bus and
// multiplications that must be made. Below the time that the chip takes for these, a measured time
// is wrong or the work was not done. Only what no clever kernel can leave out is counted: outputs
// that forward makes; random inputs and weights, each of whose numbers reaches an output through
// elementwise operators (in place or not), matrix products, convolutions, normalisations and
// reductions; and the products of such numbers, of a convolution one for each output and input
// channel (convolution_work.h). What may cancel or collapse is free: what is used twice before it
// is reduced, sums of what was normalised, reductions of one number each, products of many; and the
// multiplications of a product that is then reduced, for x w is summed as x times the sum of w.
// Whatever else a task does (masks, triangles, parts of results, a product of what a product made,
// which may be taken in another order) is free too. Pure; from the plan alone.
#pragma once

#include <optional>
#include <string>

#include "data/finding.h"
#include "gym/cuda/driver.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct LeastWork {
  double bytes = 0;
  double flops = 0;  // a product and a sum count as two
  bool operator==(const LeastWork&) const = default;
};
LeastWork least_work(const Plan& task);

// A finding that refuses the time, where the chip cannot have done the work in it.
std::optional<Finding> find_impossible_speed(const LeastWork& work, const cuda::GpuFacts& gpu,
                                             double milliseconds);

}  // namespace tritonsmith::gym::plan::analysis
