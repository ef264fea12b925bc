// NCCL: carries tensors between the GPUs of a job. As everything of CUDA it is not linked but
// loaded, from LibTorch's wheel, and only once there are tensors on a GPU to carry. Operations are
// enqueued on the device's current stream. One thread uses it; abort() may come from any.
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
  // Drawn by rank 0 for all.
  static Result<std::string> make_id();
  // 22809 for 2.28.9. Loads the library.
  static Result<int> version();
  // Waits for all ranks; `id` is the same for all.
  static Result<std::unique_ptr<Nccl>> connect(const Ranks& ranks, const std::string& id,
                                               c10::Device device);
  ~Nccl();
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;

  // In place, [N].
  Result<OperationPtr> reduce(const at::Tensor& values, Reduction reduction);
  // In place, over equal shards: a rank's own gets the sum; every rank gets every other's.
  Result<OperationPtr> sum_to_shards(const at::Tensor& flat);
  Result<OperationPtr> gather_shards(const at::Tensor& flat);

  // What is enqueued ends, with errors; nothing can be called any more.
  void abort();

 private:
  class Running;
  Nccl(nccl::Communicator communicator, const Ranks& ranks)
      : communicator_(communicator), ranks_(ranks) {}
  template <typename Call>
  Result<OperationPtr> enqueue(const at::Tensor& tensor, const Call& call);

  std::mutex mutex_;
  nccl::Communicator communicator_;  // null: aborted
  const Ranks& ranks_;
};

}  // namespace tritonsmith::distributed
