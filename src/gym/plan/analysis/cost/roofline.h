// Computes the roofline of a task: the bytes that any kernel must move through the memory bus, and
// the multiplications that it must make.
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

#include <map>

#include "data/speed_of_light.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct LeastWork {
  double bytes = 0;
  double flops = 0;                       // a product and a sum count as two
  std::map<DType, double> flops_by = {};  // the same by the type of the factors
  bool operator==(const LeastWork&) const = default;
};
LeastWork least_work(const Plan& task);
UnavoidableWork unavoidable(const LeastWork& work);

}  // namespace tritonsmith::gym::plan::analysis
