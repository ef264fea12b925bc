#include "gym/referee/reference_jumps.h"

#include <ATen/ATen.h>

#include "gym/trial/jumps.h"

namespace tritonsmith::gym::referee {

std::vector<trial::ElementValues> find_jumps(Equipment& equipment, trial::TrialConfig config,
                                             const trial::TrialResult& failed) {
  if (failed.few_wrong.empty() || failed.is_stopped()) return {};
  config.watch_launches = config.try_without_kernels = config.sample_factors = false;
  config.keeping = trial::StateKeeping::none;
  config.asked = &failed.few_wrong;
  trial::JumpSearch search(failed.few_wrong, failed.expected_there);
  try {
    for (int round = 0; round < trial::kJumpRounds && !search.is_over(); ++round) {
      config.nudge = trial::jump_nudge(round);
      const trial::TrialResult asked =
          trial::run_trial(config, *equipment.executor, equipment.device);
      if (asked.candidate_stop || config.deadline.passed()) return {};
      search.add(asked.answer);
    }
  } catch (const c10::OutOfMemoryError&) {
    return {};
  }
  return search.adopted();
}

trial::TrialResult settle_jumps(Equipment& equipment, trial::TrialConfig config,
                                trial::TrialResult result) {
  const std::vector<trial::ElementValues> adopted = find_jumps(equipment, config, result);
  if (adopted.empty()) return result;
  config.adopted = &adopted;
  trial::TrialResult settled = trial::run_trial(config, *equipment.executor, equipment.device);
  return settled.is_stopped() || settled.difference ? result : settled;
}

}  // namespace tritonsmith::gym::referee
