#include "reward/stages.h"

#include <algorithm>

namespace tritonsmith::reward {
namespace {

double mean_value(std::span<const Reward> rewards, std::string_view name) {
  double sum = 0;
  for (const Reward& reward : rewards)
    for (const RewardTerm& term : reward.terms)
      if (term.name == name) sum += term.value;
  return sum / static_cast<double>(rewards.size());
}

}  // namespace

void StageState::observe(std::span<const Reward> rewards, const RewardConfig& config) {
  if (rewards.empty()) return;
  const double keep = config.rate_memory;
  format = keep * format + (1 - keep) * mean_value(rewards, "format");
  compiled = keep * compiled + (1 - keep) * mean_value(rewards, "compiled");
  weight = keep * weight + (1 - keep);
  ++steps;
}

double pay_factor(double rate, const RewardConfig& config) {
  if (config.saturation_end <= config.saturation_begin)
    return rate < config.saturation_begin ? 1 : 0;
  const double left =
      (config.saturation_end - rate) / (config.saturation_end - config.saturation_begin);
  return std::clamp(left, 0.0, 1.0);
}

Json to_json(const StageState& state) {
  return {{"steps", state.steps},
          {"format", state.format},
          {"compiled", state.compiled},
          {"weight", state.weight}};
}

Result<StageState> stage_state_from_json(const Json& json) {
  JsonReader reader(json);
  const StageState state{.steps = reader.integer("steps"),
                         .format = reader.number("format"),
                         .compiled = reader.number("compiled"),
                         .weight = reader.number("weight")};
  TRY(reader.status());
  return state;
}

}  // namespace tritonsmith::reward
