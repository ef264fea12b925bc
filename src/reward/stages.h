// StageState: the moving rates at which samples reach the early stages `format` and `compiled`. A
// stage that nearly every sample reaches stops paying. Otherwise a model may be content with
// kernels that only compile. The factor depends on the rate alone, so a stage that the model
// unlearns pays again. The state is part of a checkpoint, and its JSON restores it bit for bit. One
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
  double format = 0, compiled = 0;  // weighted sums over all steps
  double weight = 0;                // the sum of the weights: 1 - rate_memory^steps

  // Adds the values of both terms in the rewards of one step.
  void observe(std::span<const Reward> rewards, const RewardConfig& config);
  double format_rate() const { return weight > 0 ? format / weight : 0; }
  double compiled_rate() const { return weight > 0 ? compiled / weight : 0; }
  bool operator==(const StageState&) const = default;
};

// Returns 1 below saturation_begin and 0 above saturation_end, with a straight line between.
double pay_factor(double rate, const RewardConfig& config);

Json to_json(const StageState& state);
Result<StageState> stage_state_from_json(const Json& json);

}  // namespace tritonsmith::reward
