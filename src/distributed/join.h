// Joins the other processes of a job. It connects the store at the launcher's address (c10d's
// TCPStore), the watch that detects lost processes, and Gloo. GPU tensors later add NCCL. If a rank
// does not arrive within the deadline, the error names it.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <memory>

#include "distributed/launch_info.h"
#include "distributed/ranks.h"

namespace tritonsmith::distributed {

struct JoinOptions {
  std::chrono::milliseconds join{std::chrono::minutes(5)};  // wait for all ranks to start
  // wait for all ranks to reach an operation
  std::chrono::milliseconds operation{std::chrono::minutes(60)};
  std::chrono::milliseconds grace{std::chrono::seconds(20)};  // watch.h
};

// A job with one process joins nobody.
Result<std::unique_ptr<Ranks>> join(const LaunchInfo& launch, const JoinOptions& options = {});

}  // namespace tritonsmith::distributed
