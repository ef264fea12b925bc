// RLoop's filter (arXiv 2511.04285): between two rounds of reinforcement learning the successful
// trajectories of the finished round become a supervised set, and the next round begins with the
// first policy fine-tuned on it, rather than with the last policy, which has overfitted its way.
// A trajectory is chosen when
//   it succeeded: its reward is at least `reward`,
//   its task was not solved nearly always (share of successes <= `solved`): those teach nothing
//   new, it is not a copy of one chosen before,
// at most `per_task` of a task, higher rewards first, then the earlier ones. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tritonsmith::algorithm {

struct Trajectory {
  std::string_view task;
  std::string_view text;  // all that the model wrote
  double reward = 0;
};

struct ExpertOptions {
  double reward = 1.0;
  double solved = 1.0;
  int per_task = 4;
};

// Indices of the chosen, in the order given.
std::vector<std::size_t> choose_experts(std::span<const Trajectory> trajectories,
                                        const ExpertOptions& options);

}  // namespace tritonsmith::algorithm
