// Measures the rates that a GPU reaches: copies, matrix products by type, and one launch. Verdicts
// compare kernels with them (data/speed_of_light.h). `doctor` calls it, on one thread, while it holds
// the GPU's lease.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "data/speed_of_light.h"
#include "gym/plan/value.h"

namespace tritonsmith::gym::timing {

// Work of known size. Each call runs the work once and returns the seconds that the device took.
class RateMeter {
 public:
  virtual ~RateMeter() = default;
  // Reads so many bytes once, and writes as many once.
  virtual Result<double> seconds_to_copy(double bytes) = 0;
  // A product of two square matrices. Numbers of type float32 are multiplied in TF32, as tl.dot does
  // by default.
  virtual Result<double> seconds_to_multiply(plan::DType type, int side) = 0;
  // Launches a kernel that does next to nothing, between the same two marks as a timed round.
  virtual Result<double> seconds_to_launch() = 0;
};

// The best of several runs counts, because everything else that happens only slows a run down.
// Fails if a run fails or takes no time.
Result<Ceilings> measure_ceilings(RateMeter& meter, const std::string& gpu);

// Opens the GPU of this number. Fails if LibTorch cannot use it.
Result<std::unique_ptr<RateMeter>> meter_of_gpu(int ordinal);

}  // namespace tritonsmith::gym::timing
