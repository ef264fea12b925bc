// LeasedGenerator: a Generator on a GPU that something else is timed on (base/lease.h). It decodes
// only while it holds the lease, gives way between steps as soon as somebody waits, and holds
// nothing between calls: its caller may then wait for the very verdict that waits for the lease.
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
