// GpuTurn: the trainer's use of a GPU that something else is timed on (base/lease.h): held while it
// computes, given back when the object dies, and between micro-batches to whoever waits. Without a
// lease it does nothing. Owned by the loop's thread.
#pragma once

#include <c10/core/Device.h>

#include <optional>

#include "base/lease.h"

namespace tritonsmith::train {

class GpuTurn {
 public:
  GpuTurn(std::optional<Lease>& lease, c10::Device device);
  ~GpuTurn();
  GpuTurn(const GpuTurn&) = delete;
  GpuTurn& operator=(const GpuTurn&) = delete;

  // To be called between pieces of work: lets in whoever waits, once the device is done.
  void give_way();
  // Waits until the device has done what this thread asked of it.
  void settle() const;

 private:
  void take();
  void give_back();
  std::optional<Lease>& lease_;
  c10::Device device_;
};

}  // namespace tritonsmith::train
