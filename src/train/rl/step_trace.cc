#include "train/rl/step_trace.h"

#include <utility>

namespace tritonsmith::train {

void StepTrace::add(TraceLane lane, std::string name, TimePoint begin) {
  if (section_.wants(run_.step() + 1))
    spans_.push_back(
        {.lane = lane, .name = std::move(name), .begin = begin, .end = system_clock().now()});
}

Status StepTrace::write(const std::vector<TraceSpan>& of_rollout) {
  const std::int64_t step = run_.step() + 1;
  if (!section_.wants(step) || !run_.ranks().is_first()) return ok();
  spans_.insert(spans_.end(), of_rollout.begin(), of_rollout.end());
  return write_trace(run_.directory().path() / "trace.json", step, std::exchange(spans_, {}));
}

}  // namespace tritonsmith::train
