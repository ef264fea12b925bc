// StopSignal: SIGINT and SIGTERM as something to wait for. One at a time; the thread that made it
// waits. Children that exec are not concerned: handlers do not survive that.
#pragma once

#include "base/fd.h"

namespace tritonsmith::cli {

class StopSignal {
 public:
  static Result<StopSignal> install();
  // Until one came; it may have come already.
  void wait() const;

 private:
  explicit StopSignal(Pipe pipe) : pipe_(std::move(pipe)) {}
  Pipe pipe_;
};

}  // namespace tritonsmith::cli
