#include "train/rl/rollout_stream.h"

#include "base/check.h"

namespace tritonsmith::train {

// The queue has room for all groups. A gathering therefore never waits for a loop that gave up.
RolloutStream::RolloutStream(RolloutGatherer& gatherer, RolloutStart start, Runs runs)
    : start_(std::move(start)), runs_(runs), groups_(gatherer.most_groups()) {
  const auto policy = runs == Runs::on_own_thread ? std::launch::async : std::launch::deferred;
  gathering_ = std::async(policy, [this, &gatherer]() -> Result<GatheringTotals> {
    auto totals = Result<GatheringTotals>(GatheringTotals());
    const Status status = without_exceptions([&]() -> Status {
      totals =
          gatherer.gather(start_, [this](ScoredGroup group) { groups_.push(std::move(group)); });
      return ok();
    });
    groups_.close();
    if (!status) return tl::unexpected(status.error());
    return totals;
  });
}

std::optional<ScoredGroup> RolloutStream::next() {
  if (runs_ == Runs::in_next) gathering_.wait();
  auto group = groups_.pop();
  is_drained_ = !group;
  return group;
}

Result<GatheringTotals> RolloutStream::finish() {
  CHECK(is_drained_ && gathering_.valid(), "the stream has more groups, or has been finished");
  return gathering_.get();
}

bool RolloutStream::is_gathering() const {
  return runs_ == Runs::on_own_thread &&
         gathering_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

}  // namespace tritonsmith::train
