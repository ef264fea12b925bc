// Finds results of the reference's operators that equal what the operators were given. Examples are
// the absolute value of positive numbers, a clamp of values within its bounds, and a bias of zeros.
// On such inputs a kernel that does its share of the work passes on what it was given, so it looks
// like a kernel that only copies. Such a trial proves nothing about the kernel; other trials must.
// These functions only read tensors.
#pragma once

#include <vector>

#include "gym/plan/plan.h"
#include "gym/replay/choices.h"
#include "gym/tensors/tensors.h"
#include "gym/trial/findings/kernel_use.h"

namespace tritonsmith::gym::trial {

// Returns the results of forward's operators in the task that equal one of their arguments, bit by
// bit. Dropout, and operators that only arrange, are left out: they mean to change nothing.
// In-place operators are left out too, because their argument is overwritten.
std::vector<at::Tensor> unchanged_values(const plan::Plan& task,
                                         const tensors::TensorTable& tensors);

// Says whether `values` equal one of these tensors within the tolerance.
bool are_among(const std::vector<at::Tensor>& unchanged, const at::Tensor& values,
               double tolerance);

// Says whether there are floating-point inputs with several elements, and each of them holds
// one value throughout. One input may then hide another everywhere, as the larger of two
// does in a maximum.
bool lack_spread(const std::vector<int>& inputs, const tensors::TensorTable& tensors);

// On a GPU a store is only seen where it changes memory. If the reference leaves values unchanged,
// a kernel that works in place stores what was there already. This function therefore adds tensors
// to what a launch stored: those that the launch's code stores through, and whose values are among
// `unchanged`. `tensors` are the candidate's, and `choices` belong to its tuned launches.
void add_unseen_stores(const plan::Plan& candidate, const replay::Choices& choices,
                       const tensors::TensorTable& tensors,
                       const std::vector<at::Tensor>& unchanged, double tolerance,
                       replay::LaunchTraces& launches);

}  // namespace tritonsmith::gym::trial
