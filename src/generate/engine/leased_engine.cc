#include "generate/engine/leased_engine.h"

#include <algorithm>

#include "base/log.h"

namespace tritonsmith::generate::engine {
namespace {

// The time between two checks whether another process waits for the lease: a few decode steps.
constexpr Milliseconds kWindow{10};

}  // namespace

void LeasedEngine::take() {
  const bool is_taken = lease_.take(Lease::Hold::shared,
                                    Deadline::after(has_given_up_ ? Milliseconds(0) : patience_));
  if (!is_taken && !has_given_up_)
    LOG("another process has held the GPU's lease for {:.0f} s; generating without it",
        std::chrono::duration<double>(patience_).count());
  has_given_up_ = !is_taken;
}

Status LeasedEngine::submit(GenerationRequest request) {
  take();  // the engine reads the weights with its first request
  Status status = engine_->submit(std::move(request));
  lease_.give_back();
  return status;
}

Result<std::optional<Generated>> LeasedEngine::next_by(Deadline deadline) {
  take();
  auto generated = decode(deadline);
  const Status settled = engine_->settle();
  lease_.give_back();
  if (generated && !settled) return tl::unexpected(settled.error());
  return generated;
}

Result<std::optional<Generated>> LeasedEngine::decode(Deadline deadline) {
  for (;;) {
    const Deadline window = Deadline::after(kWindow);
    const Deadline until = window.at() < deadline.at() ? window : deadline;
    TRY_ASSIGN(auto generated, engine_->next_by(until));
    // If there is neither a completion nor a timeout, no request is in flight, or the engine was
    // interrupted.
    if (generated || deadline.passed() || !until.passed()) return generated;
    if (!lease_.is_wanted()) continue;
    TRY(engine_->settle());
    lease_.give_back();
    take();
  }
}

}  // namespace tritonsmith::generate::engine
