// Trial: a program computed in double precision on random inputs, in plain C++. It tells what
// ranges cannot: that a task's outputs hardly differ (whoever always answers 1.0 would pass), or
// that two programs compute the same.
#pragma once

#include <vector>

#include "base/rng.h"
#include "curriculum/program.h"

namespace tritonsmith::curriculum {

// The output of a program with `rows` rows of length n (matmul: k = n too), flattened.
std::vector<double> try_out(const Program& program, int rows, int n, Rng rng);

// The outputs lie close around one value, relative to what a tolerance can tell apart.
bool is_nearly_constant(const std::vector<double>& outputs);

}  // namespace tritonsmith::curriculum
