// LeasedGenerator: an engine on a GPU on which kernels are timed too (base/lease.h). It decodes
// only while it holds the GPU's lease. Between steps it gives the lease to whoever waits for it.
// Between calls it holds nothing, because its caller may wait for a verdict that waits for the
// lease.
#pragma once

#include <memory>

#include "base/lease.h"
#include "generate/token_generator.h"

namespace tritonsmith::generate::engine {

class LeasedGenerator : public TokenGenerator {
 public:
  LeasedGenerator(std::unique_ptr<TokenGenerator> generator, Lease lease)
      : generator_(std::move(generator)), lease_(std::move(lease)) {}

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override { generator_->cancel(id); }
  Status settle() override { return generator_->settle(); }
  std::int64_t max_length() const override { return generator_->max_length(); }

 private:
  // Waits for the lease; goes on without it when others hold it for too long.
  void take();
  Result<std::optional<Generated>> decode(Deadline deadline);
  std::unique_ptr<TokenGenerator> generator_;
  Lease lease_;
};

}  // namespace tritonsmith::generate::engine
