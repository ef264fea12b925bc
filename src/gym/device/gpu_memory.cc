#include "gym/device/gpu_memory.h"

#include <c10/core/CachingDeviceAllocator.h>

namespace tritonsmith::gym::device {

std::int64_t reserved_bytes(c10::Device device) {
  const auto stats = c10::getDeviceAllocator(device.type())->getDeviceStats(device.index());
  constexpr auto all = static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE);
  return stats.reserved_bytes[all].current;
}

void empty_cache(c10::Device device) { c10::getDeviceAllocator(device.type())->emptyCache(); }

void GpuMemory::begin_job() {
  share_.take_memory();
  refusals_before_ = refusals();
}

std::int64_t GpuMemory::refusals() const {
  return c10::getDeviceAllocator(device_.type())->getDeviceStats(device_.index()).num_ooms;
}

bool GpuMemory::was_refused() const { return !has_all() && refusals() > refusals_before_; }

void GpuMemory::take_all() {
  empty_cache(device_);
  share_.take_memory_alone();
  refusals_before_ = refusals();
}

void GpuMemory::end_job() {
  if (has_all() || share_.is_memory_wanted()) {
    rest();
    return;
  }
  const std::int64_t fair = total_ / 10 * 9 / share_.referees();
  if (reserved_bytes(device_) > fair) empty_cache(device_);
}

void GpuMemory::rest() {
  if (!share_.has_memory()) return;
  empty_cache(device_);
  share_.give_back_memory();
}

}  // namespace tritonsmith::gym::device
