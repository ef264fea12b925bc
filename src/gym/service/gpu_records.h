// GpuRecords: what a job store knows of the GPUs that judge its jobs. All hosts that share the store
// see the same. A GPU in quarantine concludes nothing until an operator clears it:
//
//   * A worker whose lease names it gets no job.
//   * A verdict that it brings is dropped, and its job is queued again.
//   * The jobs that it concluded since its last good calibration are in doubt: they are queued again
//     for GPUs of the same class. Each keeps its first verdict for clients that have yet to fetch
//     it, until the next verdict replaces it. No client gets two.
//
// job_store_contract_test.cc checks this. Any thread may call. Nothing waits.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/enum_names.h"
#include "data/calibration.h"

namespace tritonsmith::gym::service {

struct QuarantinedGpu {
  std::string gpu;     // its UUID
  std::string device;  // its class: "NVIDIA H200"; empty: unknown, and jobs in doubt go anywhere
  std::string host;    // where it is, or was; empty: unknown
  std::string reason;  // one line
  // The store sets these.
  std::int64_t since_ms = 0;  // since 1970
  int doubted_jobs = 0;       // jobs that were queued again because of it
};

// keep: later calibrations are compared with the first one, as before. anew: the next one is first.
enum class FirstCalibration { keep, anew };

class GpuRecords {
 public:
  virtual ~GpuRecords() = default;

  // Returns the GPU's first calibration of the same version. If there is none, this one becomes it.
  virtual Result<Calibration> first_calibration(const std::string& gpu, const Calibration& now) = 0;
  // The GPU was sound `age` ago, so the jobs that it had concluded by then are beyond doubt.
  virtual Status vindicate(const std::string& gpu, Milliseconds age) = 0;
  // Puts it into quarantine. The first reason stays. Returns how many jobs are in doubt.
  virtual Result<int> quarantine(const QuarantinedGpu& gpu) = 0;
  // Returns false if it was in no quarantine. Its jobs in doubt are judged again all the same.
  virtual Result<bool> clear(const std::string& gpu, FirstCalibration first) = 0;
  // Returns the GPUs in quarantine, by UUID.
  virtual Result<std::vector<QuarantinedGpu>> quarantined() const = 0;
};

}  // namespace tritonsmith::gym::service
