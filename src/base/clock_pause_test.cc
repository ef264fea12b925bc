#include "base/clock_pause.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/clock.h"

namespace tritonsmith {
namespace {

// The clock belongs to the process, so another process has to be behind.
TEST(ClockPause, CountsForNoDeadlineAndNoStopwatch) {
  const auto is_left_out = [] {
    const Deadline deadline = Deadline::in_seconds(3600);
    const Stopwatch watch;
    take_out_of_system_clock(std::chrono::hours(2));
    const bool is_behind = watch.seconds() < -7000;
    const bool has_time = deadline.at() - system_clock().now() > std::chrono::hours(2);
    // A wait of two hours would have brought the clock back to where it was.
    return is_behind && has_time && !deadline.passed();
  };
  EXPECT_EXIT(std::_Exit(is_left_out() ? 0 : 1), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tritonsmith
