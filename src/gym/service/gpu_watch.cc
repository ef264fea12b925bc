#include "gym/service/gpu_watch.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"

namespace tritonsmith::gym::service {
namespace {

std::string describe(double drift, const Calibration& first, const Calibration& now) {
  return fmt::format(
      "it runs the calibration kernels in {:.3f} and {:.3f} ms, at first {:.3f} and {:.3f} ms: "
      "{:.1f} % {}, and {:.0f} % are allowed",
      now.compute_ms, now.memory_ms, first.compute_ms, first.memory_ms, 100 * std::abs(drift),
      drift > 0 ? "slower" : "faster", 100 * kMostDrift);
}

}  // namespace

Result<bool> GpuWatch::look(const std::vector<api::DeviceUse>& devices) {
  bool is_any = false;
  for (const api::DeviceUse& device : devices) {
    if (device.gpu.empty() || device.calibrations <= seen_[device.gpu]) continue;
    TRY_ASSIGN(const std::string reason, examine(device));
    if (!reason.empty()) TRY(quarantine(device.gpu, reason));
    is_any = is_any || !reason.empty();
    seen_[device.gpu] = device.calibrations;
  }
  if (!watched_.take_faults) return is_any;
  for (const GpuFault& fault : watched_.take_faults()) {
    TRY(quarantine(fault.gpu, fault.reason));
    is_any = true;
  }
  return is_any;
}

Result<std::string> GpuWatch::examine(const api::DeviceUse& device) {
  TRY_ASSIGN(const Calibration first, records_.first_calibration(device.gpu, device.calibration));
  const double drift = drift_between(first, device.calibration);
  metrics_.set_drift(device.name, drift);
  if (std::abs(drift) > kMostDrift) return describe(drift, first, device.calibration);
  // Verdicts that came while it was calibrated are left in doubt until the next time.
  const auto age =
      std::chrono::duration_cast<Milliseconds>(system_clock().now() - device.calibrated);
  TRY(records_.vindicate(device.gpu, age + std::chrono::seconds(1)));
  return std::string();
}

Status GpuWatch::quarantine(const std::string& gpu, const std::string& reason) {
  TRY_ASSIGN(const int jobs,
             records_.quarantine(
                 {.gpu = gpu, .device = watched_.device, .host = watched_.host, .reason = reason}));
  LOG("gym: {} is in quarantine: {}; {} of its jobs are judged again", gpu, reason, jobs);
  return ok();
}

Result<std::vector<std::string>> GpuWatch::quarantined() const {
  if (watched_.gpus.empty()) return std::vector<std::string>();
  TRY_ASSIGN(const auto all, records_.quarantined());
  std::vector<std::string> mine;
  for (const QuarantinedGpu& one : all)
    if (std::ranges::find(watched_.gpus, one.gpu) != watched_.gpus.end()) mine.push_back(one.gpu);
  return mine;
}

std::vector<std::string> GpuWatch::without(const std::vector<std::string>& quarantined) const {
  std::vector<std::string> left = watched_.gpus;
  std::erase_if(left, [&](const std::string& gpu) {
    return std::ranges::find(quarantined, gpu) != quarantined.end();
  });
  return left;
}

}  // namespace tritonsmith::gym::service
