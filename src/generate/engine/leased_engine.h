// LeasedEngine: an engine on a GPU on which kernels are timed too (base/lease.h). It decodes
// only while it holds the GPU's lease. Between steps it gives the lease to whoever waits for it.
// Between calls it holds nothing, because its caller may wait for a verdict that waits for the
// lease.
#pragma once

#include <memory>

#include "base/lease.h"
#include "generate/token_engine.h"

namespace tritonsmith::generate::engine {

class LeasedEngine : public TokenEngine {
 public:
  LeasedEngine(std::unique_ptr<TokenEngine> engine, Lease lease)
      : engine_(std::move(engine)), lease_(std::move(lease)) {}

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override { engine_->cancel(id); }
  Status settle() override { return engine_->settle(); }
  std::int64_t max_length() const override { return engine_->max_length(); }

 private:
  // Waits for the lease; goes on without it when others hold it for too long.
  void take();
  Result<std::optional<Generated>> decode(Deadline deadline);
  std::unique_ptr<TokenEngine> engine_;
  Lease lease_;
};

}  // namespace tritonsmith::generate::engine
