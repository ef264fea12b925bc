// StageState: how far training has come with the early stages, as moving rates over its steps. A
// stage that nearly every sample reaches stops paying, else a model may live on it (compile-only
// kernels, catalogue J3). The factor depends on the rate alone, so a stage that is unlearnt pays
// again. Part of a checkpoint: resuming from its JSON gives the same weights, bit for bit. One
// thread owns it.
#pragma once

#include <cstdint>
#include <span>

#include "base/json.h"
#include "data/reward.h"
#include "reward/config.h"

namespace tritonsmith::reward {

struct StageState {
  std::int64_t steps = 0;
  double format = 0, compiled = 0;  // sums with fading weights; see rate()
  double weight = 0;                // what they are sums of: 1 - memory^steps

  // Takes in one optimizer step's rewards (their values, whatever they were paid).
  void observe(std::span<const Reward> rewards, const RewardConfig& config);
  double format_rate() const { return weight > 0 ? format / weight : 0; }
  double compiled_rate() const { return weight > 0 ? compiled / weight : 0; }
  bool operator==(const StageState&) const = default;
};

// 1 below saturation_begin, 0 above saturation_end, a straight line between.
double pay_factor(double rate, const RewardConfig& config);

Json to_json(const StageState& state);
Result<StageState> stage_state_from_json(const Json& json);

}  // namespace tritonsmith::reward
