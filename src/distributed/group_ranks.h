// GroupRanks: Ranks that are several processes. Tensors in host memory go through Gloo, tensors on
// a GPU through NCCL. Every operation is watched. It ends when it is complete, when a rank is lost
// (watch.h), or at its deadline. The error names the rank at fault.
#pragma once

#include <chrono>

#include "distributed/gloo.h"
#include "distributed/nccl.h"
#include "distributed/watch.h"

namespace tritonsmith::distributed {

class GroupRanks : public Ranks {
 public:
  struct Parts {
    JobStore store;  // declared first, so that it outlives its users
    std::unique_ptr<Watch> watch;
    std::unique_ptr<Gloo> gloo;
  };
  GroupRanks(const LaunchInfo& launch, Parts parts, std::chrono::milliseconds patience);
  ~GroupRanks() override;

  Status sum(const at::Tensor& values, std::string_view what) override;
  Status largest(const at::Tensor& values, std::string_view what) override;
  Status sum_to_shards(const at::Tensor& flat, std::string_view what) override;
  Status gather_shards(const at::Tensor& flat, std::string_view what) override;
  Result<std::vector<std::string>> gather(std::string_view bytes, std::string_view what) override;
  void end(const Status& status) override;

 private:
  using Start = std::function<Result<OperationPtr>()>;
  Status carry_out(std::string_view what, const Start& start);
  Status await(Operation& operation, std::string_view what);
  Status reduce(const at::Tensor& values, Reduction reduction, std::string_view what);
  Status connect_gpus(c10::Device device);
  tl::unexpected<Error> blame(std::string_view what, const std::string& message);

  Parts parts_;
  std::unique_ptr<Nccl> nccl_;  // made at the first tensor on a GPU
  std::chrono::milliseconds patience_;
  std::uint64_t number_ = 0;  // counts operations
  bool is_broken_ = false;    // an operation never ended
};

}  // namespace tritonsmith::distributed
