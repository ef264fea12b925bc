// Says what the other inputs of a task mean for a list of whole numbers that no generator drew: the
// sizes at which it may have to end, and the numbers and marks to which it may have to fit. Pure.
#pragma once

#include <vector>

#include "gym/device/input_change.h"
#include "gym/plan/plan.h"
#include "gym/tensors/tensors.h"

namespace tritonsmith::gym::trial {

struct ListOfTask {
  const plan::Plan& task;
  const std::vector<int>& inputs;  // all tensors among the task's inputs
  std::vector<int> lists;          // those of whole numbers that no generator drew
  int input = 0;                   // this list
};

// Fills all but `growth` and `overwrites`.
void add_others(const ListOfTask& list, const tensors::TensorTable& tensors,
                device::pattern::Whole& whole);

}  // namespace tritonsmith::gym::trial
