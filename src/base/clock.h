// Clock and Deadline: everything that waits takes a Deadline, and everything that reads the time
// takes a Clock, so that tests run on a fake one and never sleep.
#pragma once

#include <chrono>

namespace tritonsmith {

using Milliseconds = std::chrono::milliseconds;
using TimePoint = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// The machine's monotonic clock; one for the whole process.
const Clock& system_clock();

// A point in time after which waiting ends. Deadline::never() waits for ever.
class Deadline {
 public:
  static Deadline never() { return Deadline(TimePoint::max()); }
  static Deadline after(std::chrono::nanoseconds span, const Clock& clock = system_clock());
  static Deadline in_seconds(double seconds, const Clock& clock = system_clock());

  TimePoint at() const { return at_; }
  bool passed(const Clock& clock = system_clock()) const { return clock.now() >= at_; }
  // What poll(2) takes: rounded up to whole milliseconds, 0 when passed, -1 for never.
  int poll_timeout(const Clock& clock = system_clock()) const;

 private:
  explicit Deadline(TimePoint at) : at_(at) {}
  TimePoint at_;
};

// Seconds since this object was made.
class Stopwatch {
 public:
  explicit Stopwatch(const Clock& clock = system_clock()) : clock_(clock), start_(clock.now()) {}
  double seconds() const { return std::chrono::duration<double>(clock_.now() - start_).count(); }
  double milliseconds() const { return 1e3 * seconds(); }

 private:
  const Clock& clock_;
  TimePoint start_;
};

}  // namespace tritonsmith
