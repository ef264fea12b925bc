// LeasedGenerator: a Generator on a GPU on which kernels are also timed (base/lease.h). It decodes
// only while it holds the lease, and gives way between steps when another process waits. It holds
// no lease between calls, because its caller may then wait for a verdict that itself waits for the
// lease.
#pragma once

#include <memory>

#include "base/lease.h"
#include "rollout/generator.h"

namespace tritonsmith::rollout {

class LeasedGenerator : public Generator {
 public:
  LeasedGenerator(std::unique_ptr<Generator> generator, Lease lease)
      : generator_(std::move(generator)), lease_(std::move(lease)) {}

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override { generator_->cancel(id); }
  Status settle() override { return generator_->settle(); }

 private:
  // However long it takes others: then it goes on without.
  void take();
  Result<std::optional<Generated>> decode(Deadline deadline);
  std::unique_ptr<Generator> generator_;
  Lease lease_;
};

}  // namespace tritonsmith::rollout
