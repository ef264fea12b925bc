// Finds inputs that a task draws without PyTorch: by NumPy, or by Python's own generator. A plan holds
// their values as constants, which no trial could change and which a candidate could learn. Pure.
#pragma once

#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

// Returns the task's plan with each constant of its inputs that looks drawn from a normal
// distribution around 0, or from all numbers between 0 and 1, as a draw of that kind. A constant
// looks drawn if it has at least 64 numbers of 32 or 64 bits, hardly any twice, and nothing that a
// kernel could rely on: no order, no likeness of neighbours, no rows of one length or one sum, no
// symmetry.
Plan with_drawn_constants(Plan task);

}  // namespace tritonsmith::gym::plan::analysis
