// Finds the whole numbers that decide something for a drawn whole number: forward compares the drawn
// numbers with them, or leaves them out of a loss. By chance a draw of many classes holds none of them.
// Pure.
#pragma once

#include <vector>

#include "gym/plan/analysis/input_draws.h"
#include "gym/plan/plan.h"

namespace tritonsmith::gym::plan::analysis {

struct ComparedNumbers {
  // Numbers to draw, so that they meet such a number where it is compared: those for x + 1 == 778
  // contain 777. A bound has its two neighbours beside it. They may lie outside of the draw's range.
  std::vector<double> met;
  // Numbers outside of the draw's range that may be drawn all the same: nothing but a loss reads the
  // draw, and the loss ignores them.
  std::vector<double> ignored;
};

// Says whether the operator's result changes where an argument passes or equals another one.
bool meets_numbers(const AtenCall& call);

ComparedNumbers compared_numbers(const Plan& task, const InputDraw& draw);

}  // namespace tritonsmith::gym::plan::analysis
