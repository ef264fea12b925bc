// ConvolutionWork: what one convolution of a task asks of any kernel (roofline.h). Its taps are
// free: Winograd's minimal filtering and transforms make them for one product each output and input
// channel, and no bilinear algorithm needs fewer (Winograd 1980, Arithmetic Complexity of
// Computations, chapter 5: as many products as there are independent outputs). Pure.
#pragma once

#include <optional>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct ConvolutionWork {
  double flops = 0;          // a product and a sum count as two
  bool needs_input = false;  // every number of it reaches an output
  bool needs_weight = false;
  bool operator==(const ConvolutionWork&) const = default;
};

// Nothing where some outputs are the bias alone, or the call is none of aten::convolution's.
std::optional<ConvolutionWork> work_of_convolution(const Plan& task, const AtenCall& call);

}  // namespace tritonsmith::gym::plan::analysis
