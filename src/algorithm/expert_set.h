// Chooses trajectories by RLoop's filter (arXiv 2511.04285). After a round of reinforcement
// learning, the successful trajectories become a supervised set. The next round begins with the
// first policy fine-tuned on that set, because the last policy has overfitted. The function is
// pure.
//
// A trajectory is chosen if
//   it succeeded: its reward is at least `reward`,
//   its task is not solved nearly always: its share of successes is at most `solved`, and
//   it is not a copy of a trajectory chosen before.
// At most `per_task` trajectories of a task are chosen: higher rewards first, then earlier ones.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tritonsmith::algorithm {

struct Trajectory {
  std::string_view task;
  std::string_view text;  // the whole text that the model wrote
  double reward = 0;
};

struct ExpertOptions {
  double reward = 1.0;
  double solved = 1.0;
  int per_task = 4;
};

// Returns the indices of the chosen trajectories in ascending order.
std::vector<std::size_t> choose_experts(std::span<const Trajectory> trajectories,
                                        const ExpertOptions& options);

}  // namespace tritonsmith::algorithm
