// Coincidence: what the reference itself leaves as it is. The absolute value of what is positive, a
// clamp of what lies within its bounds, a bias of zeros: on such inputs a kernel that does its
// share of the work passes on what it was given, and cannot be told from one that only copies. A
// trial in which that happened says nothing about the kernel; others must. Pure but for reading
// tensors.
#pragma once

#include <vector>

#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/tensors/tensors.h"
#include "gym/trial/kernel_use.h"

namespace tritonsmith::gym::trial {

// Results of operators of the task's forward that equal one of what they were given, bit by bit.
// Not of those that only arrange, nor of dropout, which mean to change nothing. An operator in
// place cannot be told, and is left out.
std::vector<at::Tensor> unchanged_values(const plan::Plan& task,
                                         const tensors::TensorTable& tensors);

// Whether `values` are, within the tolerance, one of them.
bool are_among(const std::vector<at::Tensor>& candidates, const at::Tensor& values,
               double tolerance);

// Whether every floating-point input with several elements holds one value throughout, and there is
// such an input: then one may hide another everywhere, as the larger of two does.
bool lack_spread(const std::vector<int>& inputs, const tensors::TensorTable& tensors);

// On a GPU a store shows in what memory holds alone. Where the reference leaves its values as they
// are, a kernel that works in place stores what was there: so tensors that a launch's code stores
// through, and whose values are among `left`, are added to what it stored. `tensors` are the
// candidate's; `choices` of tuned launches.
void add_unseen_stores(const plan::Plan& candidate, const replay::Choices& choices,
                       const tensors::TensorTable& tensors, const std::vector<at::Tensor>& left,
                       double tolerance, replay::LaunchTraces& launches);

}  // namespace tritonsmith::gym::trial
