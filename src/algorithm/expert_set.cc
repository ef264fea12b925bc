#include "algorithm/expert_set.h"

#include <algorithm>
#include <map>
#include <set>

namespace tritonsmith::algorithm {

std::vector<std::size_t> choose_experts(std::span<const Trajectory> trajectories,
                                        const ExpertOptions& options) {
  struct OfTask {
    std::size_t tried = 0;
    std::vector<std::size_t> succeeded;
  };
  std::map<std::string_view, OfTask> tasks;
  for (std::size_t i = 0; i < trajectories.size(); ++i) {
    OfTask& task = tasks[trajectories[i].task];
    ++task.tried;
    if (trajectories[i].reward >= options.reward) task.succeeded.push_back(i);
  }
  std::vector<std::size_t> chosen;
  for (auto& [name, task] : tasks) {
    const double share =
        static_cast<double>(task.succeeded.size()) / static_cast<double>(task.tried);
    if (share > options.solved) continue;
    std::ranges::stable_sort(task.succeeded, [&](std::size_t a, std::size_t b) {
      return trajectories[a].reward > trajectories[b].reward;
    });
    std::set<std::string_view> texts;
    for (const std::size_t i : task.succeeded)
      if (static_cast<int>(texts.size()) < options.per_task &&
          texts.insert(trajectories[i].text).second)
        chosen.push_back(i);
  }
  std::ranges::sort(chosen);
  return chosen;
}

}  // namespace tritonsmith::algorithm
