// RoundPrints: the fingerprints of the candidate's outputs in each round of a batch. A round whose
// fingerprint is that of the trial gave the same bits, so its outputs need no comparison. An output
// that is a whole buffer of the candidate is read when its memory is poisoned, before the next run:
// one kernel does both. All calls only queue work on the device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gym/device/cuda_device.h"
#include "gym/timing/timed_side.h"

namespace tritonsmith::gym::timing {

class RoundPrints {
 public:
  RoundPrints(device::CudaDevice& device, const TimedSide& candidate)
      : device_(device), candidate_(candidate) {}

  // Remembers the fingerprint of the outputs as they are: those of the trial. It waits for the
  // device.
  void remember_expected();
  void begin_batch(int rounds);
  // Adds outputs of the candidate's last run.
  void add(std::span<const at::Tensor> outputs, int round);
  // Takes the fingerprint of this buffer and poisons it, if add() left its fingerprint to this call.
  // Returns false if it did not.
  bool print_and_poison(const at::Tensor& buffer, tensors::Filler filler);
  void end_batch(int rounds);
  // Says whether the round gave the bits of the trial. Valid once the device has ended the batch.
  bool is_expected(int round) const;

 private:
  struct Pending {
    cuda::Bytes block;
    std::uint64_t salt;
    int round;
  };
  static const void* address(const Pending& pending) { return pending.block.at; }

  device::CudaDevice& device_;
  const TimedSide& candidate_;
  std::vector<Pending> pending_;
  std::uint64_t expected_ = 0;
};

}  // namespace tritonsmith::gym::timing
