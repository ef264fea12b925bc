// Finds the numbers in a candidate's own code. A kernel that treats some element, size or bound in a
// way of its own has its number there. Trials put large elements at such positions, and values
// beyond such bounds. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "gym/plan/plan.h"

namespace tritonsmith::gym::trial {

struct CandidateNumbers {
  std::vector<double> real;
  std::vector<std::int64_t> whole;  // not negative
};

// Returns the constants of the plan's kernels and the numbers that launches pass. Each appears once.
// At most 256 of each kind are kept.
CandidateNumbers numbers_of(const plan::Plan& candidate);

}  // namespace tritonsmith::gym::trial
