// Joins the other processes of a job: the store at the launcher's address (c10d's TCPStore), the
// watch that misses who dies, Gloo between the hosts' memories, and for tensors on GPUs NCCL.
// Whoever fails to come within the deadline is named.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <memory>

#include "distributed/place.h"
#include "distributed/ranks.h"

namespace tritonsmith::distributed {

struct JoinOptions {
  std::chrono::milliseconds join{std::chrono::minutes(5)};        // until all are here
  std::chrono::milliseconds operation{std::chrono::minutes(60)};  // until all come to one
  std::chrono::milliseconds grace{std::chrono::seconds(20)};      // watch.h
};

// Without the others when the place is alone.
Result<std::unique_ptr<Ranks>> join(const Place& device, const JoinOptions& options = {});

}  // namespace tritonsmith::distributed
