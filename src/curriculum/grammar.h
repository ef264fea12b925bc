// Grammar: draws compositions. A program is elementwise operators, or those before and after one
// row operator; no two operators of one class (operators.h) meet in it, none is without effect, and
// all values stay where fp32 is accurate.
#pragma once

#include <optional>
#include <set>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct GrammarRules {
  Family family = Family::elementwise;
  int operators = 3;      // how many, the row operator included
  std::set<Op> words;     // which ones; empty: all
  int most_inputs = 4;    // arguments and weights
  bool broadcast = true;  // operands may be rows and columns
  bool branches = true;  // operands may have an operator of their own, and inputs may be used twice
};

// Nothing when the draw led nowhere; draw again.
std::optional<Program> draw_program(Rng& rng, const GrammarRules& rules);

// Sizes for a program. Small: at most 8,192 elements in all inputs and the output. GPU: at least
// 2^26 elements read or a matrix product of 17 GFLOP, 50 us and more on an H200.
Sizes draw_sizes(Rng& rng, const Program& program, TaskScale scale);

}  // namespace tritonsmith::curriculum
