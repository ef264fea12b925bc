// Names the tensors of a plan as a person knows them: the parameters of forward, the module's
// parameters and buffers, the output. Messages use them in place of indices. Pure functions and
// values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Names the distinct input tensors, in the order of input_tensors(): "`x`", "`states[1]`". Without
// Plan::input_names: "argument 2".
std::vector<std::string> input_names(const Plan& plan);

// Names the tensors of the outputs, in the order of append_tensors(): "the output", or "output[1]" if
// forward returns several.
std::vector<std::string> output_names(const Plan& plan);

// Names any tensor of a plan by its memory. A view of `x` is therefore `x`. A tensor that only a step
// makes is "the tensor of shape [16, 8] that line 14 makes". The plan must outlive it.
class TensorNames {
 public:
  explicit TensorNames(const Plan& plan) : plan_(plan) {}
  // The text lives as long as this object.
  std::string_view of(int tensor);

 private:
  void find_names();
  void add(int tensor, std::string name);

  const Plan& plan_;
  std::map<int, std::string> names_;  // by storage; found when the first one is asked for
};

}  // namespace tritonsmith::gym::plan::analysis
