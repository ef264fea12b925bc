// Learning from a step's groups while later ones are still written and judged
// (rollout.learn_early). The rollout has a thread of its own, which hands over each group once it
// and those before are complete; the loop's thread scores it and adds its part to the gradient.
#include <future>

#include "base/bounded_queue.h"
#include "train/rl_loop.h"

namespace tritonsmith::train {

Result<RlLoop::Gathered> RlLoop::gather_and_learn(const Beginning& beginning) {
  PolicyGradientOptions options = gradient_options();
  options.pause = [this] {
    if (turn_) turn_->give_way();
  };
  Gathered gathered{.lots = 1, .learnt = std::make_unique<Learnt>(run_.learner(), options)};
  // Room for all: whoever hands over never waits, not even for one who gave up.
  BoundedQueue<std::vector<JudgedSample>> groups(static_cast<std::size_t>(config_.rollout.prompts));
  auto rollout = std::async(std::launch::async, [&]() -> Result<Experience> {
    auto experience = Result<Experience>(Experience());
    const Status status = without_exceptions([&]() -> Status {
      experience =
          gather_lot(beginning, beginning.lots + 1, 0,
                     [&groups](std::vector<JudgedSample> group) { groups.push(std::move(group)); });
      return ok();
    });
    groups.close();
    if (!status) return tl::unexpected(status.error());
    return experience;
  });
  while (auto group = groups.pop()) {
    const double before = gathered.learnt->seconds;
    TRY(learn_group(*std::move(group), beginning, gathered));
    if (rollout.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      gathered.learnt->early_seconds += gathered.learnt->seconds - before;
  }
  TRY_ASSIGN(Experience lot, rollout.get());
  gathered.experience.append(std::move(lot));
  return gathered;
}

Status RlLoop::learn_group(std::vector<JudgedSample> group, const Beginning& beginning,
                           Gathered& gathered) {
  const Stopwatch watch;
  const TimePoint began = system_clock().now();
  const std::vector<char> is_scored = score(group, beginning.stages);
  std::vector<char> is_used;
  if (choose_groups(group, is_scored, 1, is_used) > 0) {
    turn_.emplace(lease_, run_.learner().model().device());
    TRY_ASSIGN(PolicyBatch batch,
               credited(
                   group, is_scored, [this] { turn_->give_way(); }, gathered.learnt->counts));
    gathered.learnt->gradient.add(std::move(batch));
    turn_->settle();
    turn_.reset();
    trace(TraceLane::training, "gradient", began);
  }
  gathered.is_scored.insert(gathered.is_scored.end(), is_scored.begin(), is_scored.end());
  gathered.is_used.insert(gathered.is_used.end(), is_used.begin(), is_used.end());
  gathered.experience.append({.samples = std::move(group)});
  gathered.learnt->seconds += watch.seconds();
  return ok();
}

Status RlLoop::finish_learning(Learnt& learnt, Metrics& metrics) {
  const TimePoint began = system_clock().now();
  turn_.emplace(lease_, run_.learner().model().device());
  learnt.counts.add_to(metrics);
  const PolicyGradientReport report = learnt.gradient.finish();
  UpdateReport updated;
  if (report.tokens > 0) {
    TRY_ASSIGN(updated, update_weights());
  }
  turn_.reset();
  add_update_metrics(report, updated, metrics);
  trace(TraceLane::training, "update", began);
  return ok();
}

}  // namespace tritonsmith::train
