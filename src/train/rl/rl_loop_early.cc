// Learning from a step's groups while later ones are still written and judged
// (rollout.learn_early). The rollout has a thread of its own, which scores and hands over each
// group once it and those before are complete; the loop's thread adds its part to the gradient.
#include <future>

#include "base/bounded_queue.h"
#include "train/rl/rl_loop.h"

namespace tritonsmith::train {

// Scored as it comes, so that the rollout's thread knows when enough groups teach and no further
// lot is wanted.
struct RlLoop::ScoredGroup {
  std::vector<JudgedSample> samples;
  std::vector<char> is_scored, is_used;  // of each
};

Result<RlLoop::Gathered> RlLoop::gather_lots(const Beginning& beginning,
                                             const std::function<void(ScoredGroup)>& take_group) {
  Gathered gathered;
  int wanted = config_.rollout.prompts;
  const TakeGroup on_group = [&](std::vector<JudgedSample> samples) {
    ScoredGroup group{.samples = std::move(samples)};
    group.is_scored = score(group.samples, beginning.stages);
    wanted -= choose_groups(group.samples, group.is_scored, wanted, group.is_used);
    take_group(std::move(group));
  };
  while (gathered.lots == 0 || (wanted > 0 && gathered.lots < config_.algorithm.sampling_lots)) {
    ++gathered.lots;
    TRY_ASSIGN(Experience lot, gather_lot(beginning, beginning.lots + gathered.lots,
                                          (gathered.lots - 1) * config_.rollout.prompts, on_group));
    gathered.experience.append(std::move(lot));
  }
  return gathered;
}

Result<RlLoop::Gathered> RlLoop::gather_and_learn(const Beginning& beginning) {
  PolicyGradientOptions options = gradient_options();
  options.pause = [this] {
    if (turn_) turn_->give_way();
  };
  Gathered learnt{.learnt = std::make_unique<Learnt>(run_.learner(), options)};
  // Room for all: whoever hands over never waits, not even for one who gave up.
  BoundedQueue<ScoredGroup> groups(static_cast<std::size_t>(config_.rollout.prompts) *
                                   static_cast<std::size_t>(config_.algorithm.sampling_lots));
  auto rollout = std::async(std::launch::async, [&] {
    auto gathered = Result<Gathered>(Gathered());
    const Status status = without_exceptions([&]() -> Status {
      gathered =
          gather_lots(beginning, [&groups](ScoredGroup group) { groups.push(std::move(group)); });
      return ok();
    });
    groups.close();
    if (!status) return Result<Gathered>(tl::unexpected(status.error()));
    return gathered;
  });
  while (auto group = groups.pop()) {
    const double before = learnt.learnt->seconds;
    TRY(learn_group(*std::move(group), learnt));
    if (rollout.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
      learnt.learnt->early_seconds += learnt.learnt->seconds - before;
  }
  TRY_ASSIGN(Gathered rest, rollout.get());
  learnt.lots = rest.lots;
  learnt.experience.append(std::move(rest.experience));
  return learnt;
}

Status RlLoop::learn_group(ScoredGroup group, Gathered& gathered) {
  const Stopwatch watch;
  const TimePoint began = system_clock().now();
  if (!group.is_used.empty() && group.is_used.front() != 0) {  // all of a group, or none
    turn_.emplace(lease_, run_.learner().model().device());
    TRY_ASSIGN(PolicyBatch batch, credited(
                                      group.samples, group.is_scored, [this] { turn_->give_way(); },
                                      gathered.learnt->counts));
    gathered.learnt->gradient.add(std::move(batch));
    turn_->settle();
    turn_.reset();
    trace(TraceLane::training, "gradient", began);
  }
  gathered.is_scored.insert(gathered.is_scored.end(), group.is_scored.begin(),
                            group.is_scored.end());
  gathered.is_used.insert(gathered.is_used.end(), group.is_used.begin(), group.is_used.end());
  gathered.experience.append({.samples = std::move(group.samples)});
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
