// TimedRun: queues one run of a side between two marks, on a full device queue and a cold cache.
// The device waits until the host has queued the whole run. Otherwise the time of small kernels
// would depend on how fast the host queues them, and the host queues LibTorch's operators more
// slowly. The device waits before the cache is flushed, because after the flush lines would be
// written back while the host is still queueing.
#pragma once

#include <functional>

#include "gym/device/cuda_device.h"
#include "gym/timing/timed_side.h"

namespace tritonsmith::gym::timing {

class TimedRun {
 public:
  // `filler` says what the candidate's unwritten memory holds.
  TimedRun(device::CudaDevice& device, tensors::Filler filler) : device_(device), filler_(filler) {}

  // Allocates the memory whose writing flushes the cache.
  void reserve();
  std::optional<replay::Stop> queue(TimedSide& side, cuda::Event& before, cuda::Event& after);
  // Does the same with a mark after each step. marks[0] stands before an empty interval, marks[1]
  // before the first step, and marks[k + 2] after step k.
  std::optional<replay::Stop> queue_steps(TimedSide& side, std::span<cuda::Event> marks);
  tensors::Filler filler() const { return filler_; }
  // From now on, `poison` is asked first to poison a buffer of the last run.
  void poison_by(TimedSide::PoisonBuffer poison) { poison_ = std::move(poison); }

 private:
  // Flushes the cache by overwriting it. Poisoning the buffers has filled a part of it already.
  void flush(TimedSide& side);

  device::CudaDevice& device_;
  tensors::Filler filler_;
  TimedSide::PoisonBuffer poison_;
  at::Tensor flush_;
};

// Waits for the device until its patience ends. A fault of the device shows here.
std::optional<replay::Stop> late_fault(device::CudaDevice& device);
replay::Stop infrastructure_fault(const std::string& message);

}  // namespace tritonsmith::gym::timing
