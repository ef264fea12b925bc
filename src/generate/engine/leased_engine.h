// LeasedEngine: an engine on a GPU on which kernels are timed too (base/lease.h). It decodes
// only while it holds the GPU's lease. Between steps it gives the lease to a program that waits.
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
      : LeasedEngine(std::move(engine), std::move(lease), std::chrono::seconds(60)) {}
  // `patience`: timings take seconds at most, so a process that holds the lease for longer is
  // broken.
  LeasedEngine(std::unique_ptr<TokenEngine> engine, Lease lease, Milliseconds patience)
      : engine_(std::move(engine)), lease_(std::move(lease)), patience_(patience) {}

  Status submit(GenerationRequest request) override;
  Result<std::optional<Generated>> next_by(Deadline deadline) override;
  void cancel(std::uint64_t id) override { engine_->cancel(id); }
  void interrupt() override { engine_->interrupt(); }
  Status settle() override { return engine_->settle(); }
  std::int64_t max_length() const override { return engine_->max_length(); }

 private:
  // Waits for the lease. Goes on without it when another process holds it for too long, and from
  // then on only tries, until it gets the lease again.
  void take();
  Result<std::optional<Generated>> decode(Deadline deadline);
  std::unique_ptr<TokenEngine> engine_;
  Lease lease_;
  Milliseconds patience_;
  bool has_given_up_ = false;
};

}  // namespace tritonsmith::generate::engine
