// Range: the values of a program and the error of fp32, estimated by interval arithmetic on samples
// of each operator. The grammar refuses three kinds of programs: those that overflow, those whose
// result is mostly rounding error, and those with an operator without effect.
#pragma once

#include <optional>

#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct Range {
  double low = 0, high = 0;
  double error = 0;  // largest absolute rounding error
};

// Returns nothing if an operator in the program has no effect, or if its values leave the range
// where fp32 is accurate. `longest_row` is the largest n of the program's runs, and for matmul the
// largest k.
std::optional<Range> range_of(const Program& program, int longest_row);

}  // namespace tritonsmith::curriculum
