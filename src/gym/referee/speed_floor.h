// SpeedFloor: what a task's forward asks of any kernel: bytes that must cross the memory's bus and
// multiplications that must be made. Below the time that the chip takes for these, a measured time
// is wrong or the work was not done. Only what no clever kernel can leave out is counted: outputs
// that forward makes; random inputs and weights, each of whose numbers reaches an output through
// elementwise operators, matrix products and convolutions; and the products of such numbers, of a
// convolution one for each output and input channel (convolution_work.h). Whatever else a task does
// (masks, triangles, sums, a product of what a product made, which may be taken in another order)
// is free here. Pure; from the plan alone.
#pragma once

#include <optional>
#include <string>

#include "data/finding.h"
#include "gym/gpu/driver.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym {

struct LeastWork {
  double bytes = 0;
  double flops = 0;  // a product and a sum count as two
  bool operator==(const LeastWork&) const = default;
};
LeastWork least_work(const Plan& task);

// A finding that refuses the time, where the chip cannot have done the work in it.
std::optional<Finding> find_impossible_speed(const LeastWork& work, const gpu::GpuFacts& gpu,
                                             double milliseconds);

}  // namespace tritonsmith::gym
