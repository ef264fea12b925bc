// Wraps LibTorch's c10d on the host's side: the store through which a job's processes find each
// other, and Gloo, which carries tensors in host memory. Exceptions of c10d become Errors here.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <string>

#include "distributed/launch_info.h"
#include "distributed/operation.h"

namespace tritonsmith::distributed {

class JobStore {
 public:
  // Connects to the store. Rank 0 listens at the address of the launch, unless the launcher does; the
  // other ranks connect. Fails if no process listens there within `patience`. Every later wait has
  // the same limit.
  static Result<JobStore> open(const LaunchInfo& launch, std::chrono::milliseconds patience);

  Status set(const std::string& key, const std::string& value);
  // Waits until a rank has set the key.
  Result<std::string> get(const std::string& key);

 private:
  friend class Gloo;
  struct Held;
  explicit JobStore(std::shared_ptr<Held> held) : held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

class Gloo {
 public:
  // Connects all ranks. `address` is the address by which other hosts reach this one. If it is
  // empty, GLOO_SOCKET_IFNAME decides, or else the host's name. An operation that takes longer than
  // `patience` fails.
  static Result<std::unique_ptr<Gloo>> connect(const JobStore& store, const LaunchInfo& launch,
                                               const std::string& address,
                                               std::chrono::milliseconds patience);

  // Reduces in place; values [N].
  Result<OperationPtr> reduce(const at::Tensor& values, Reduction reduction);
  // Fills all [ranks N] from each rank's one [N].
  Result<OperationPtr> gather(const at::Tensor& all, const at::Tensor& one);
  // For an operation that never ends: leaves the threads that run it as they are.
  void abandon();

 private:
  struct Held;
  explicit Gloo(std::shared_ptr<Held> held) : held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

}  // namespace tritonsmith::distributed
