// Hierarchical reward decomposition (TritonRL, arXiv 2510.17891): the plan decides how fast a
// kernel can be, the code whether it is right, so each has a reward and a group baseline of its
// own:
//   r_plan = speed, r_code = correctness;  A_c = r_c - mean of the group's r_c
//   J = 1/G sum_i [ alpha sum over plan tokens of L_t(A_plan) + sum over code tokens of L_t(A_code)
//   ]
// A small alpha (0.1) lets plans change slowly while the code adapts to them. alpha is folded into
// the advantage, as min(rho A, clip(rho) A) is linear in A for alpha >= 0. The boundary is a token
// offset that extraction found (never one of characters): everything up to the plan's end is plan,
// everything after it, tags and stop token included, is code; a completion without a plan is all
// code. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "data/kernel.h"

namespace tritonsmith::algorithm {

// How many tokens of a completion of `tokens` are plan.
std::size_t plan_length(const Kernel& kernel, std::size_t tokens);

struct ClassAdvantages {
  double plan = 0, code = 0;
};

// One advantage for each token.
std::vector<float> hierarchical_advantages(std::size_t plan_tokens, std::size_t tokens,
                                           const ClassAdvantages& advantages, double alpha);

}  // namespace tritonsmith::algorithm
