// Clock and Deadline: a function that waits takes a Deadline, and a function that reads the time
// takes a Clock. Tests therefore run on a fake clock and never sleep.
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

// The machine's monotonic clock. The process has one.
const Clock& system_clock();

// Milliseconds from `start` until now, by the machine's clock.
inline double milliseconds_since(TimePoint start) {
  return std::chrono::duration<double, std::milli>(system_clock().now() - start).count();
}

// The point in time at which a wait ends. Deadline::never() waits for ever.
class Deadline {
 public:
  static Deadline never() { return Deadline(TimePoint::max()); }
  static Deadline after(std::chrono::nanoseconds span, const Clock& clock = system_clock());
  static Deadline in_seconds(double seconds, const Clock& clock = system_clock());

  TimePoint at() const { return at_; }
  bool passed(const Clock& clock = system_clock()) const { return clock.now() >= at_; }
  // The timeout for poll(2): whole milliseconds, rounded up. 0 if the deadline has passed, -1 for
  // never().
  int poll_timeout(const Clock& clock = system_clock()) const;

 private:
  explicit Deadline(TimePoint at) : at_(at) {}
  TimePoint at_;
};

// Measures the time since its construction.
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
