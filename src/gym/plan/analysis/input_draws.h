// Finds the random draws from which a task makes its inputs. A trial may change a draw right after
// it was made. Whatever the task does next (scales it, takes its absolute value, sorts it) then
// holds for the changed input, too, so that the input stays in the task's domain. Pure.
#pragma once

#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// normal: around 0, without bounds. uniform: between two bounds. whole: whole numbers, or indices.
// order: each whole number once. other: positive numbers, mostly.
enum class DrawKind { normal, uniform, whole, order, other };

struct InputDraw {
  std::size_t step = 0;
  int tensor = 0;  // its result
  DrawKind kind = DrawKind::other;
  // The bounds of `uniform`; the least and the largest number of `whole`, or -1 as the largest if the
  // call does not tell them.
  double low = 0, high = 1;
  // All inputs that follow from it do so by moving, scaling and shifting alone.
  bool is_affine = true;
  // They hold its very elements, as a slice, an expanded view or a cast does.
  bool is_as_drawn = true;
  std::vector<int> inputs;  // the inputs that follow from it, as tensors; never empty
};

// In the order of the plan's steps.
std::vector<InputDraw> input_draws(const Plan& task);

// Says whether some draw gives whole numbers between two bounds.
bool draws_whole_numbers(const Plan& task);

// Says whether the input's elements are what a generator with a usual distribution drew, perhaps
// moved or cast, and each has an address of its own. A trial then changes the input itself.
bool is_drawn_directly(const Plan& task, int input);

// The distinct tensors among the plan's inputs, in order.
std::vector<int> input_tensors(const Plan& plan);

}  // namespace tritonsmith::gym::plan::analysis
