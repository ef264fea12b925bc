#include "algorithm/returns.h"

namespace tritonsmith::algorithm {

std::vector<MaybeReward> discounted_returns(std::span<const MaybeReward> rewards, double discount) {
  std::vector<MaybeReward> returns(rewards.size());
  MaybeReward later = 0.0;
  for (std::size_t t = rewards.size(); t-- > 0;) {
    if (discount == 0) later = 0.0;
    if (rewards[t] && later) returns[t] = *rewards[t] + discount * *later;
    later = returns[t];
  }
  return returns;
}

}  // namespace tritonsmith::algorithm
