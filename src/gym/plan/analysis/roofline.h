// The roofline of a task: the bytes that any kernel must move through the memory bus, and the
// multiplications that it must make. If a measured time is below the time that the chip needs for
// these, the time is wrong or the kernel left work out.
//
// Only work that no kernel can avoid counts:
//   - the outputs that forward makes;
//   - random inputs and weights of which every number reaches an output, through elementwise
//     operators (in place or not), matrix products, convolutions, normalisations and reductions;
//   - the products of such numbers. A convolution has one product for each output and input channel
//     (convolution_work.h).
// Work that may cancel or collapse does not count:
//   - values that are used twice before they are reduced, sums of normalised values, reductions of
//     one number each, and products of many numbers;
//   - the multiplications of a product that is then reduced, because sum(x w) is x times sum(w).
// All other work does not count either: masks, triangles, parts of results, and a product of a
// product, which a kernel may compute in another order. Pure; it reads only the plan.
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

// Returns a finding that refuses the measured time if the chip cannot do the work in it.
std::optional<Finding> find_impossible_speed(const LeastWork& work, const cuda::GpuFacts& gpu,
                                             double milliseconds);

}  // namespace tritonsmith::gym::plan::analysis
