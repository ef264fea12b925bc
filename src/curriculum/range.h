// Range: which values a program meets and how wrong fp32 may make them, estimated by interval
// arithmetic on samples of each operator. The grammar refuses what overflows, what rounding would
// drown, and operators that change nothing.
#pragma once

#include <optional>

#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct Range {
  double low = 0, high = 0;
  double error = 0;  // largest absolute rounding error
};

// Nothing when some operator in the program is of no effect, or leaves what fp32 can hold well.
// `longest_row` is the largest n (for matmul: k) the program will run at.
std::optional<Range> range_of(const Program& program, int longest_row);

}  // namespace tritonsmith::curriculum
