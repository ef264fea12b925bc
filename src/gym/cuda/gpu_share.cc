#include "gym/cuda/gpu_share.h"

#include "base/check.h"

namespace tritonsmith::gym::cuda {

Result<GpuShare> GpuShare::open(const std::filesystem::path& file, int referees) {
  TRY_ASSIGN(Lease turn, Lease::open(file.string() + ".turn"));
  TRY_ASSIGN(Lease memory, Lease::open(file.string() + ".memory"));
  return GpuShare(std::move(turn), std::move(memory), referees);
}

GpuShare GpuShare::adopt(const std::array<int, 4>& descriptors, int referees) {
  const auto [turn, turn_gate, memory, memory_gate] = descriptors;
  return GpuShare(Lease::adopt(Fd(turn), Fd(turn_gate)), Lease::adopt(Fd(memory), Fd(memory_gate)),
                  referees);
}

std::array<int, 4> GpuShare::descriptors() const {
  const auto turn = turn_.descriptors(), memory = memory_.descriptors();
  return {turn[0], turn[1], memory[0], memory[1]};
}

void GpuShare::await(Lease& lease, Lease::Hold hold) {
  if (lease.take(hold, Deadline::after(std::chrono::nanoseconds(0)))) return;
  const auto start = std::chrono::steady_clock::now();
  if (on_wait_) on_wait_(true);
  CHECK(lease.take(hold, Deadline::never()), "a lock of a shared GPU is lost");
  if (on_wait_) on_wait_(false);
  waited_ms_ +=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

void GpuShare::take_turn() {
  if (turn_.is_held()) return;
  await(turn_, Lease::Hold::shared);
  is_alone_ = false;
}

bool GpuShare::take_turn_by(Deadline deadline) {
  if (!turn_.is_held() && !turn_.take(Lease::Hold::shared, deadline)) return false;
  is_alone_ = false;
  return true;
}

void GpuShare::let_others_pass() {
  if (!turn_.is_held() || is_alone_ || !turn_.is_wanted()) return;
  turn_.give_back();
  take_turn();
}

void GpuShare::take_turn_alone() {
  turn_.give_back();
  await(turn_, Lease::Hold::alone);
  is_alone_ = true;
}

void GpuShare::take_memory() {
  CHECK(!turn_.is_held(), "a referee waits for memory during its turn");
  if (memory_.is_held()) return;
  await(memory_, Lease::Hold::shared);
  has_all_memory_ = false;
}

void GpuShare::take_memory_alone() {
  CHECK(!turn_.is_held(), "a referee waits for memory during its turn");
  memory_.give_back();
  await(memory_, Lease::Hold::alone);
  has_all_memory_ = true;
}

}  // namespace tritonsmith::gym::cuda
