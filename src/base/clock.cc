#include "base/clock.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tritonsmith {
namespace {

class SystemClock : public Clock {
 public:
  TimePoint now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace

const Clock& system_clock() {
  static const SystemClock clock;
  return clock;
}

Deadline Deadline::after(std::chrono::nanoseconds span, const Clock& clock) {
  return Deadline(clock.now() + span);
}

Deadline Deadline::in_seconds(double seconds, const Clock& clock) {
  return after(std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * seconds)), clock);
}

int Deadline::poll_timeout(const Clock& clock) const {
  if (at_ == TimePoint::max()) return -1;
  const auto left = std::chrono::ceil<Milliseconds>(at_ - clock.now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, std::numeric_limits<int>::max()));
}

}  // namespace tritonsmith
