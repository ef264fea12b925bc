// GpuWatch: decides which GPUs of a worker judge no more, and tells the job store. A GPU goes into
// quarantine if it ran the calibration kernels by more than 3 % faster or slower than at first, or
// if the driver reported an error of it. The worker's dispatcher owns it; one thread.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gym/api/judge.h"
#include "gym/service/gpu_records.h"
#include "gym/service/service_metrics.h"

namespace tritonsmith::gym::service {

inline constexpr double kMostDrift = 0.03;

// An error that the driver reported of a GPU.
struct GpuFault {
  std::string gpu;     // its UUID
  std::string reason;  // one line
};

struct WatchedGpus {
  std::vector<std::string> gpus;  // the UUIDs of the worker's GPUs
  std::string device, host;       // their class, and where they are
  // Returns what the driver reported since the last call. Empty: nobody listens to the driver.
  std::function<std::vector<GpuFault>()> take_faults;
};

class GpuWatch {
 public:
  GpuWatch(GpuRecords& records, WatchedGpus watched, ServiceMetrics& metrics)
      : records_(records), watched_(std::move(watched)), metrics_(metrics) {}

  // Begins to look at a new judge, which counts its calibrations from 0.
  void begin_judge() { seen_.clear(); }
  // Looks at what is new about the judge's devices. Returns whether a GPU went into quarantine.
  Result<bool> look(const std::vector<api::DeviceUse>& devices);
  // Returns which of the worker's GPUs are in quarantine now, by whomever.
  Result<std::vector<std::string>> quarantined() const;
  // Returns the worker's GPUs without these.
  std::vector<std::string> without(const std::vector<std::string>& quarantined) const;

 private:
  // Returns why the GPU must judge no more; empty if its calibration is good.
  Result<std::string> examine(const api::DeviceUse& device);
  Status quarantine(const std::string& gpu, const std::string& reason);

  GpuRecords& records_;
  WatchedGpus watched_;
  ServiceMetrics& metrics_;
  std::map<std::string, std::uint64_t> seen_;  // calibrations of each GPU
};

}  // namespace tritonsmith::gym::service
