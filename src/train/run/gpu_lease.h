// GpuLease: the trainer's use of a GPU on which kernels are also timed (base/lease.h). It holds the
// lease while it computes, and its destructor gives the lease back. Between micro-batches it lets
// waiting processes in. Without a lease it does nothing. The loop's thread owns it.
#pragma once

#include <c10/core/Device.h>

#include <optional>

#include "base/lease.h"

namespace tritonsmith::train {

class GpuLease {
 public:
  GpuLease(std::optional<Lease>& lease, c10::Device device);
  ~GpuLease();
  GpuLease(const GpuLease&) = delete;
  GpuLease& operator=(const GpuLease&) = delete;

  // Call it between pieces of work: it waits for the device, then lets in waiting processes.
  void give_way();
  // Waits until the device has finished this thread's work.
  void settle() const;

 private:
  void take();
  void give_back();
  std::optional<Lease>& lease_;
  c10::Device device_;
};

}  // namespace tritonsmith::train
