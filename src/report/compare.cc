#include "report/compare.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/rng.h"

namespace tritonsmith::report {
namespace {

constexpr std::size_t kResamples = 10000;
constexpr std::string_view kGreedyAccepted = "greedy accepted";

using Measure = std::function<double(const TaskResult&)>;

double share(int count, const TaskResult& task) {
  return task.samples > 0 ? static_cast<double>(count) / task.samples : 0;
}

std::vector<std::pair<std::string, Measure>> measures(bool is_timed) {
  std::vector<std::pair<std::string, Measure>> all = {
      {"compiled", [](const TaskResult& t) { return share(t.compiled, t); }},
      {"correct", [](const TaskResult& t) { return share(t.correct, t); }},
      {"accepted", [](const TaskResult& t) { return share(t.accepted, t); }},
      {std::string(kGreedyAccepted),
       [](const TaskResult& t) { return t.greedy_accepted ? 1.0 : 0.0; }},
      {"any sample accepted", [](const TaskResult& t) { return t.accepted > 0 ? 1.0 : 0.0; }},
      {"refused", [](const TaskResult& t) { return share(t.hacks, t); }}};
  if (!is_timed) return all;
  for (const double p : kFastThresholds)
    all.emplace_back(fmt::format("fast_{:g}", p), [p](const TaskResult& t) {
      const auto fast = std::ranges::count_if(t.speedups, [p](double s) { return s > p; });
      return share(static_cast<int>(fast), t);
    });
  return all;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// Returns the 2.5th and the 97.5th percentile of the mean over resampled tasks.
std::pair<double, double> interval(const std::vector<double>& differences) {
  Rng rng(1, "bootstrap", differences.size());
  std::vector<double> means;
  means.reserve(kResamples);
  std::vector<double> drawn(differences.size());
  for (std::size_t i = 0; i < kResamples; ++i) {
    for (double& value : drawn) value = differences[rng.below(differences.size())];
    means.push_back(mean(drawn));
  }
  std::ranges::sort(means);
  return {means[kResamples / 40], means[kResamples - 1 - kResamples / 40]};
}

bool is_timed(const Evaluation& evaluation) { return evaluation.speed.timed > 0; }

}  // namespace

std::vector<Difference> compare(const Evaluation& before, const Evaluation& after) {
  std::map<std::string, const TaskResult*> known;
  for (const TaskResult& task : before.by_task) known[task.id] = &task;
  std::vector<std::pair<const TaskResult*, const TaskResult*>> pairs;
  for (const TaskResult& task : after.by_task)
    if (const auto at = known.find(task.id); at != known.end())
      pairs.emplace_back(at->second, &task);
  std::vector<Difference> all;
  if (pairs.empty() || before.policy != after.policy) return all;
  const bool has_greedy = before.greedy && after.greedy;
  for (const auto& [name, measure] : measures(is_timed(before) && is_timed(after))) {
    if (name == kGreedyAccepted && !has_greedy) continue;
    std::vector<double> first, second, differences;
    for (const auto& [a, b] : pairs) {
      first.push_back(measure(*a));
      second.push_back(measure(*b));
      differences.push_back(second.back() - first.back());
    }
    const auto [low, high] = interval(differences);
    all.push_back({.measure = name,
                   .before = mean(first),
                   .after = mean(second),
                   .low = low,
                   .high = high,
                   .tasks = static_cast<int>(pairs.size())});
  }
  return all;
}

}  // namespace tritonsmith::report
