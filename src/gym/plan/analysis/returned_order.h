// Finds results that are the indices of numbers in order, as those of a top-k. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// An output that holds indices into `ranked` along the dimension, in the order of the numbers there. PyTorch
// promises no order of equal numbers.
struct ReturnedOrder {
  int output = 0;  // the tensor that is returned
  int ranked = 0;  // the tensor that was put in order
  std::int64_t dimension = -1;
};
std::vector<ReturnedOrder> returned_orders(const Plan& task);

// Says whether the call is a stable sort, which promises the order of equal numbers.
bool is_stable_sort(const AtenCall& call);

}  // namespace tritonsmith::gym::plan::analysis
