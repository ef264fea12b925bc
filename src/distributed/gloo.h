// What is taken from LibTorch's c10d on the host's side: the store that a job's processes find each
// other by, and Gloo, which carries tensors in host memory between them. What c10d throws becomes
// an Error here.
#pragma once

#include <ATen/core/Tensor.h>

#include <chrono>
#include <memory>
#include <string>

#include "distributed/operation.h"
#include "distributed/place.h"

namespace tritonsmith::distributed {

class JobStore {
 public:
  // Rank 0 listens at the place's address, unless the launcher does; the others connect. Fails
  // where nobody listens within `patience`, which every later wait has too.
  static Result<JobStore> open(const Place& place, std::chrono::milliseconds patience);

  Status set(const std::string& key, const std::string& value);
  // Waits until somebody has set it.
  Result<std::string> get(const std::string& key);

 private:
  friend class Gloo;
  struct Held;
  explicit JobStore(std::shared_ptr<Held> held) : held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

class Gloo {
 public:
  // `address`: of this host, as the others reach it; empty: as GLOO_SOCKET_IFNAME or, without it,
  // the host's name says. An operation that takes longer than `patience` fails.
  static Result<std::unique_ptr<Gloo>> connect(const JobStore& store, const Place& place,
                                               const std::string& address,
                                               std::chrono::milliseconds patience);

  // In place, [N].
  Result<OperationPtr> reduce(const at::Tensor& values, Reduction reduction);
  // all [ranks N] from each rank's one [N].
  Result<OperationPtr> gather(const at::Tensor& all, const at::Tensor& one);
  // After an operation that never ended: the threads that are in it are left where they are.
  void abandon();

 private:
  struct Held;
  explicit Gloo(std::shared_ptr<Held> held) : held_(std::move(held)) {}
  std::shared_ptr<Held> held_;
};

}  // namespace tritonsmith::distributed
