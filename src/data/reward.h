// Reward: the value of a completion and its verdict. It keeps every term, so that records show how
// the total came about.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

struct RewardTerm {
  std::string name;   // "format", "similarity", "compiled", "correct"
  double value = 0;   // before weighting
  double weight = 0;  // after the schedule of reward/stages.h
  bool operator==(const RewardTerm&) const = default;
};

struct Reward {
  double total = 0;  // sum of value * weight
  std::vector<RewardTerm> terms;
  bool operator==(const Reward&) const = default;
};

Json to_json(const Reward& reward);
Result<Reward> reward_from_json(const Json& json);

}  // namespace tritonsmith
