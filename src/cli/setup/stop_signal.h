// StopSignal: makes SIGINT and SIGTERM something to wait for. Only one may exist at a time, and the
// thread that made it waits. Children that call exec are not affected, because exec resets
// handlers.
#pragma once

#include "base/fd.h"

namespace tritonsmith::cli {

class StopSignal {
 public:
  static Result<StopSignal> install();
  // Waits for a signal. A signal that has already arrived counts.
  void wait() const;
  // Lets a further signal end the program as usual.
  static void restore();

 private:
  explicit StopSignal(Pipe pipe) : pipe_(std::move(pipe)) {}
  Pipe pipe_;
};

}  // namespace tritonsmith::cli
