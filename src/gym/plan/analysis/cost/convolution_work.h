// ConvolutionWork: the work that one convolution of a task demands of any kernel (roofline.h). It
// counts one product for each output and input channel, however many taps the filter has.
// Winograd's minimal filtering and transforms reach that number. No bilinear algorithm needs fewer
// products than there are independent outputs (Winograd 1980, Arithmetic Complexity of
// Computations, chapter 5). Pure.
#pragma once

#include <optional>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct ConvolutionWork {
  double flops = 0;          // a product and a sum count as two
  bool needs_input = false;  // every element of the input reaches an output
  bool needs_weight = false;
  bool operator==(const ConvolutionWork&) const = default;
};

// Returns nothing if some outputs are the bias alone, or if the call is no aten::convolution.
std::optional<ConvolutionWork> work_of_convolution(const Plan& task, const AtenCall& call);

}  // namespace tritonsmith::gym::plan::analysis
