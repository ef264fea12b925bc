#include "gym/referee/reference_jumps.h"

#include "gym/trial/jumps.h"

namespace tritonsmith::gym::referee {

std::vector<trial::ElementValues> find_jumps(Equipment& equipment, trial::TrialConfig config,
                                             const trial::TrialResult& failed) {
  if (failed.few_wrong.empty() || failed.is_stopped()) return {};
  auto confirmed =
      trial::confirmed_by_exact(failed.few_wrong, failed.expected_there, failed.exact_there);
  if (!confirmed.empty() || !trial::rounding_may_decide(config)) return confirmed;
  config.kernels = {};
  config.keeping = trial::StateKeeping::none;
  config.asked = &failed.few_wrong;
  return trial::search_jumps(
      failed.few_wrong, failed.expected_there,
      [&](const trial::Nudge& nudge) -> std::optional<std::vector<trial::ElementValues>> {
        config.nudge = nudge;
        trial::TrialResult asked = trial::run_trial(config, *equipment.executor, equipment.device);
        if (asked.candidate_stop || config.deadline.passed()) return std::nullopt;
        return std::move(asked.answer);
      });
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
