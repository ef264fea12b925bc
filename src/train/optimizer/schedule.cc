#include "train/optimizer/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tritonsmith::train {

double learning_rate_at(const Schedule& schedule, std::int64_t update, std::int64_t total) {
  if (update < schedule.warmup)
    return schedule.peak * static_cast<double>(update + 1) / static_cast<double>(schedule.warmup);
  if (schedule.shape == ScheduleShape::constant) return schedule.peak;
  const std::int64_t span = std::max<std::int64_t>(total - 1 - schedule.warmup, 1);
  const double way =
      std::min(1.0, static_cast<double>(update - schedule.warmup) / static_cast<double>(span));
  const double left = schedule.shape == ScheduleShape::linear
                          ? 1 - way
                          : 0.5 * (1 + std::cos(std::numbers::pi * way));
  return schedule.peak * (schedule.final_ratio + (1 - schedule.final_ratio) * left);
}

}  // namespace tritonsmith::train
