// Trial: computes a program in double precision on random inputs, in plain C++. It answers two
// questions that ranges cannot. Are a task's outputs nearly constant, so that a kernel could return
// 1.0 and pass? Do two programs compute the same function?
#pragma once

#include <vector>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// Returns the flattened output of a program with `rows` rows of length n. For matmul, k equals n.
std::vector<double> try_out(const Program& program, int rows, int n, Rng rng);

// Tells whether all outputs lie close to one value, relative to a tolerance.
bool is_nearly_constant(const std::vector<double>& outputs);

}  // namespace tritonsmith::curriculum
