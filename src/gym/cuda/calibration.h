// CalibrationKernels: two kernels of known work, by whose times a GPU is compared with itself. One
// computes in registers, and the other moves memory beyond the cache. The fastest of many rounds
// counts, because other work on the machine only makes rounds slower. A lower clock, a hot board or
// failing memory makes all rounds slower. One thread.
#pragma once

#include <string>
#include <vector>

#include "data/calibration.h"
#include "gym/cuda/context.h"

namespace tritonsmith::gym::cuda {

// Raise this number whenever the kernels or their work change, so that no GPU seems to drift.
inline constexpr int kCalibrationVersion = 1;

// Returns the kernels' source, as CUDA C++.
std::string calibration_source();

class CalibrationKernels {
 public:
  // The GPU's context must be current. `cubin` comes from calibration_source().
  static Result<CalibrationKernels> make(const Driver& driver, const std::string& cubin,
                                         std::int64_t multiprocessors);
  // Runs rounds for `seconds`, and at least ten. Fails if the GPU lacks memory, 256 MiB, or stops.
  Result<Calibration> run(double seconds);

 private:
  CalibrationKernels(const Driver& driver, Module module) : driver_(driver) {
    module_.push_back(std::move(module));
  }
  Result<Calibration> fastest_round(double seconds, CUdeviceptr memory);
  // Queues a round, with an event before, between and behind the kernels, and waits for it.
  Status run_round(CUdeviceptr memory);

  const Driver& driver_;
  std::vector<Module> module_;  // exactly one
  std::vector<Event> events_;   // three
  CUfunction compute_ = nullptr, memory_ = nullptr;
  unsigned blocks_ = 0;
};

}  // namespace tritonsmith::gym::cuda
