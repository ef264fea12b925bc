// Grammar: draws compositions of operators at random. A program has elementwise operators only, or
// one row operator with elementwise operators before and after it. No two operators of a program
// have the same class (operators.h). Every operator has an effect, and all values stay where fp32
// is accurate.
#pragma once

#include <optional>
#include <set>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

struct GrammarRules {
  Family family = Family::elementwise;
  int operators = 3;      // number of operators, the row operator included
  std::set<Op> words;     // the operators to choose from; empty: all
  int most_inputs = 4;    // limit of arguments and weights together
  bool broadcast = true;  // operands may be rows and columns
  // An operand may have an operator of its own, and an input may be used twice.
  bool branches = true;
};

// Returns nothing if the draw leads to no valid program. The caller then draws again.
std::optional<Program> draw_program(Rng& rng, const GrammarRules& rules);

// Draws the sizes of a program. Small: at most 8,192 elements in all inputs and the output. GPU: at
// least 2^26 elements read, or a matrix product of 17 GFLOP. The latter takes 50 us or more on an
// H200.
Sizes draw_sizes(Rng& rng, const Program& program, TaskScale scale);

}  // namespace tritonsmith::curriculum
