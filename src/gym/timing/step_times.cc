#include "gym/timing/step_times.h"

#include <algorithm>

#include "gym/timing/sampling.h"

namespace tritonsmith::gym::timing {
namespace {

constexpr int kProfiles = 3;  // rounds that time each step by itself

}  // namespace

const plan::LaunchStep* StepTimes::launch_at(std::size_t k) const {
  return std::get_if<plan::LaunchStep>(&candidate_.plan().steps[candidate_.steps()[k]].action);
}

std::optional<replay::Stop> StepTimes::profile(std::vector<double>& step_us) {
  std::vector<cuda::Event> marks;
  const std::size_t steps = candidate_.steps().size();
  for (std::size_t k = 0; k < steps + 2; ++k) {
    auto event = cuda::Event::make(device_.driver());
    if (!event) return infrastructure_fault(event.error().message);
    marks.push_back(*std::move(event));
  }
  std::vector<std::vector<double>> samples(steps);
  for (int round = 0; round < kProfiles; ++round) {
    device_.set_patience(Deadline::after(replay::kKernelPatience));
    if (auto stop = candidate_.prepare(timed_.filler())) return stop;
    auto stop = timed_.queue_steps(candidate_, marks);
    if (auto late = late_fault(device_)) return late;
    if (stop) return stop;
    const double empty = marks[1].milliseconds_since(marks[0]);
    for (std::size_t k = 0; k < steps; ++k)
      samples[k].push_back(1e3 *
                           std::max(0.0, marks[k + 2].milliseconds_since(marks[k + 1]) - empty));
  }
  step_us.clear();
  for (const std::vector<double>& each : samples) step_us.push_back(timing_of(each).median);
  return std::nullopt;
}

std::optional<replay::Stop> StepTimes::choose_configs(Deadline deadline) {
  const std::size_t steps = candidate_.steps().size();
  std::size_t most = 1;
  for (std::size_t k = 0; k < steps; ++k)
    if (const plan::LaunchStep* launch = launch_at(k))
      most = std::max(most, launch->choices.size());
  std::vector<double> best(steps, 1e300), step_us;
  for (std::size_t choice = 0; most > 1 && choice < most && !deadline.passed(); ++choice) {
    set_choices([&](std::size_t) { return static_cast<int>(choice); });
    if (auto stop = profile(step_us)) return stop;
    for (std::size_t k = 0; k < steps; ++k) {
      const plan::LaunchStep* launch = launch_at(k);
      if (launch == nullptr || choice >= launch->choices.size() || step_us[k] >= best[k]) continue;
      best[k] = step_us[k];
      chosen_[k] = static_cast<int>(choice);
    }
  }
  if (most > 1) set_choices([&](std::size_t k) { return chosen_[k]; });
  return std::nullopt;
}

void StepTimes::set_choices(const std::function<int(std::size_t)>& choice) {
  for (std::size_t k = 0; k < candidate_.steps().size(); ++k)
    if (launch_at(k) != nullptr) candidate_.replay().choose(candidate_.steps()[k], choice(k));
}

replay::Choices StepTimes::picked() const {
  replay::Choices all;
  for (const auto& [k, choice] : chosen_) {
    const plan::LaunchStep* launch = launch_at(k);
    if (launch != nullptr && launch->choices.size() > 1) all[candidate_.steps()[k]] = choice;
  }
  return all;
}

std::optional<replay::Stop> StepTimes::add_to(referee::PlanTiming& timing, double forward_ms) {
  std::vector<double> step_us;
  const bool is_one_launch = candidate_.steps().size() == 1 && launch_at(0) != nullptr;
  if (is_one_launch)
    step_us = {1e3 * forward_ms};
  else if (auto stop = profile(step_us))
    return stop;
  double own = 0, all = 0;
  for (std::size_t k = 0; k < step_us.size(); ++k) {
    referee::StepTiming& step = entry_of(k, timing);
    ++step.launches;
    step.device_us += step_us[k];
    all += step_us[k];
    if (step.kernel >= 0) own += step_us[k];
  }
  timing.coverage = all > 0 ? own / all : 0;
  return std::nullopt;
}

referee::StepTiming& StepTimes::entry_of(std::size_t k, referee::PlanTiming& timing) {
  referee::StepTiming wanted;
  const plan::PlanStep& step = candidate_.plan().steps[candidate_.steps()[k]];
  if (const plan::LaunchStep* launch = launch_at(k)) {
    const auto last = static_cast<int>(launch->choices.size()) - 1;
    wanted.kernel = launch->choices[static_cast<std::size_t>(std::min(chosen_[k], last))].kernel;
  } else if (const auto* call = std::get_if<plan::AtenCall>(&step.action)) {
    wanted.op = call->op;
  } else {
    wanted.op = "constant";
  }
  for (referee::StepTiming& each : timing.steps)
    if (each.kernel == wanted.kernel && each.op == wanted.op) return each;
  return timing.steps.emplace_back(std::move(wanted));
}

}  // namespace tritonsmith::gym::timing
