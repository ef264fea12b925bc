// Decomposes rewards by hierarchy (TritonRL, arXiv 2510.17891). The thinking, which the paper calls
// the plan, decides how fast a kernel can be, and the code decides whether it is correct. Each part
// therefore has its own reward and its own group baseline:
//   r_thinking = speed, r_code = correctness;  A_c = r_c - mean of the group's r_c
//   J = 1/G sum_i [ alpha * sum over thinking tokens of L_t(A_thinking)
//                         + sum over code tokens of L_t(A_code) ]
// A small alpha (0.1) lets the thinking change slowly while the code adapts to it. alpha is
// multiplied into the advantage, because min(rho A, clip(rho) A) is linear in A for alpha >= 0.
//
// Extraction finds the boundary as a token offset, not as a character offset. All tokens up to the
// thinking's end are thinking. All tokens after it are code, tags and stop token included. A
// completion without thinking is all code. The functions are pure.
#pragma once

#include <cstddef>
#include <vector>

#include "data/kernel.h"

namespace tritonsmith::algorithm {

// Returns the number of thinking tokens in a completion of `tokens` tokens.
std::size_t thinking_length(const Kernel& kernel, std::size_t tokens);

struct ClassAdvantages {
  double thinking = 0, code = 0;
};

// Returns one advantage for each token.
std::vector<float> hierarchical_advantages(std::size_t thinking_tokens, std::size_t tokens,
                                           const ClassAdvantages& advantages, double alpha);

}  // namespace tritonsmith::algorithm
