// NCCL: carries tensors between the GPUs of a job. Like CUDA it is loaded at run time and not
// linked. It comes from LibTorch's wheel and is loaded only for tensors on a GPU. Operations are
// enqueued on the device's current stream. One thread uses an object; any thread may call abort().
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <mutex>
#include <string>

#include "base/error.h"
#include "distributed/nccl_api.h"
#include "distributed/operation.h"
#include "distributed/ranks.h"

namespace tritonsmith::distributed {

class Nccl {
 public:
  // Rank 0 makes the id for all ranks.
  static Result<std::string> make_id();
  // Loads the library and returns its version, such as 22809 for 2.28.9.
  static Result<int> version();
  // Waits for all ranks. All ranks pass the same `id`.
  static Result<std::unique_ptr<Nccl>> connect(const Ranks& ranks, const std::string& id,
                                               c10::Device device);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  // Reduces in place; values [N].
  Result<OperationPtr> reduce(const at::Tensor& values, Reduction reduction);
  // In place, on a buffer of equal shards. sum_to_shards puts the sum into each rank's own shard.
  // gather_shards gives every rank the shards of all others.
  Result<OperationPtr> sum_to_shards(const at::Tensor& flat);
  Result<OperationPtr> gather_shards(const at::Tensor& flat);

  // Ends enqueued operations with errors. No further call is allowed.
  void abort();

 private:
  class Running;
  Nccl(nccl::Communicator communicator, const Ranks& ranks)
      : communicator_(communicator), ranks_(ranks) {}
  template <typename Call>
  Result<OperationPtr> enqueue(const at::Tensor& tensor, const Call& call);

  std::mutex mutex_;
  nccl::Communicator communicator_;  // null after abort()
  const Ranks& ranks_;
};

}  // namespace tritonsmith::distributed
