#include "train/run/gpu_lease.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include "base/log.h"

namespace tritonsmith::train {
namespace {

// A timing takes seconds at most. A process that holds the lease longer is broken.
constexpr std::chrono::seconds kPatience{60};

}  // namespace

GpuLease::GpuLease(std::optional<Lease>& lease, c10::Device device)
    : lease_(lease), device_(device) {
  take();
}

GpuLease::~GpuLease() { give_back(); }

void GpuLease::give_way() {
  if (!lease_ || !lease_->is_wanted()) return;
  give_back();
  take();
}

void GpuLease::take() {
  if (lease_ && !lease_->take(Lease::Hold::shared, Deadline::after(kPatience)))
    LOG("the GPU's lease was not to be had within {} s; going on without", kPatience.count());
}

void GpuLease::settle() const {
  if (!device_.is_cuda()) return;
  const c10::impl::VirtualGuardImpl gpu(device_.type());
  gpu.synchronizeStream(gpu.getStream(device_));
}

void GpuLease::give_back() {
  if (!lease_ || !lease_->is_held()) return;
  settle();
  lease_->give_back();
}

}  // namespace tritonsmith::train
