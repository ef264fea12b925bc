// Gives the learning rate as a function of the update's number: a linear warm-up, then constant, or
// falling (cosine or linear) to a share of the peak. The function is pure, so that a resumed run
// needs no state for it.
#pragma once

#include <cstdint>

#include "base/enum_names.h"

namespace tritonsmith::train {

enum class ScheduleShape { constant, cosine, linear };

struct Schedule {
  ScheduleShape shape = ScheduleShape::constant;
  double peak = 1e-3;
  std::int64_t warmup = 0;   // updates until the peak
  double final_ratio = 0.1;  // share of the peak at the last update (cosine and linear)
};

// `update` counts from 0 to total - 1. The first update of a warm-up of w updates has peak / w,
// never 0.
double learning_rate_at(const Schedule& schedule, std::int64_t update, std::int64_t total);

}  // namespace tritonsmith::train

namespace tritonsmith {
template <>
inline constexpr auto enum_names<train::ScheduleShape> =
    names<train::ScheduleShape>({{train::ScheduleShape::constant, "constant"},
                                 {train::ScheduleShape::cosine, "cosine"},
                                 {train::ScheduleShape::linear, "linear"}});
}  // namespace tritonsmith
