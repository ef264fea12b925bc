// Computes the return of a turn: its value if later turns build on it.
//   G_t = r_t + discount * G_{t+1},  G_last = r_last
// (Sutton & Barto, Reinforcement Learning, 3.3). Dr. Kernel (arXiv 2602.05885) takes discount 1,
// Kevin (arXiv 2507.11948) 0.4. The function is pure.
#pragma once

#include <span>
#include <vector>

#include "algorithm/advantage.h"

namespace tritonsmith::algorithm {

// Returns one return for each turn of one trajectory. A turn without a reward has no return. The
// turns before it have none either, since part of their return is unknown; with discount 0 they
// keep theirs.
std::vector<MaybeReward> discounted_returns(std::span<const MaybeReward> rewards, double discount);

}  // namespace tritonsmith::algorithm
