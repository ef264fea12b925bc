// TimedRun: queues one run of a side between two marks, on a full device queue and a cold cache.
// The device waits until the host has queued all of it. Otherwise small kernels would be timed by
// how fast the host queues them, and LibTorch's operators are queued more slowly. The device waits
// before the cache is flushed: after the flush, lines would be written back for as long as the host
// takes.
#pragma once

#include <functional>

#include "gym/device/cuda_device.h"
#include "gym/timing/timed_side.h"

namespace tritonsmith::gym::timing {

class TimedRun {
 public:
  // `filler` is what the candidate's unwritten memory holds.
  TimedRun(device::CudaDevice& device, tensors::Filler filler) : device_(device), filler_(filler) {}

  // Allocates the memory whose writing flushes the cache.
  void reserve();
  std::optional<replay::Stop> queue(TimedSide& side, cuda::Event& before, cuda::Event& after);
  // The same with a mark behind each step: marks[0] before an empty interval, marks[1] before the
  // first step, marks[k + 2] behind step k.
  std::optional<replay::Stop> queue_steps(TimedSide& side, std::span<cuda::Event> marks);
  tensors::Filler filler() const { return filler_; }

 private:
  // Writes over the cache. The poison of buffers fills a part of it already.
  void flush(TimedSide& side);

  device::CudaDevice& device_;
  tensors::Filler filler_;
  at::Tensor flush_;
};

// Waits for the device, until its patience ends. A fault of the device shows here.
std::optional<replay::Stop> late_fault(device::CudaDevice& device);
replay::Stop infrastructure_fault(const std::string& message);

}  // namespace tritonsmith::gym::timing
