#include "rollout/leased_generator.h"

#include <algorithm>

#include "base/log.h"

namespace tritonsmith::rollout {
namespace {

// Between two looks for somebody who waits: a few steps of decoding.
constexpr Milliseconds kWindow{10};
// Timings take at most seconds; who holds the lease for longer is broken.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

void LeasedGenerator::take() {
  if (!lease_.take(Lease::Hold::shared, Deadline::after(kPatience)))
    LOG("the GPU's lease was not to be had within {} s; going on without", kPatience.count());
}

Status LeasedGenerator::submit(GenerationRequest request) {
  take();  // a first request has the engine read the weights anew
  Status status = generator_->submit(std::move(request));
  lease_.give_back();
  return status;
}

Result<std::optional<Generated>> LeasedGenerator::next_by(Deadline deadline) {
  take();
  auto generated = decode(deadline);
  const Status settled = generator_->settle();
  lease_.give_back();
  if (generated && !settled) return tl::unexpected(settled.error());
  return generated;
}

Result<std::optional<Generated>> LeasedGenerator::decode(Deadline deadline) {
  for (;;) {
    const Deadline window = Deadline::after(kWindow);
    const Deadline until = window.at() < deadline.at() ? window : deadline;
    TRY_ASSIGN(auto generated, generator_->next_by(until));
    // Nothing before the time is up: nothing is in flight.
    if (generated || deadline.passed() || !until.passed()) return generated;
    if (!lease_.is_wanted()) continue;
    TRY(generator_->settle());
    lease_.give_back();
    take();
  }
}

}  // namespace tritonsmith::rollout
