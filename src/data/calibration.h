// Calibration: how fast a GPU ran the gym's calibration kernels. A GPU's later calibrations are
// compared with its first one. Plain data, JSON both ways.
#pragma once

#include "base/json.h"

namespace tritonsmith {

struct Calibration {
  // This is the version of the calibration kernels. Times of two versions cannot be compared.
  int version = 0;
  // The fastest of many rounds, in milliseconds: of a kernel that only computes, and of one that
  // only moves memory.
  double compute_ms = 0, memory_ms = 0;
};

Json to_json(const Calibration& calibration);
// Fails unless both times are above zero.
Result<Calibration> calibration_from_json(const Json& json);

// Returns how far the GPU has drifted, as a share of its first times: 0.04 if a kernel takes 4 %
// longer, -0.04 if it takes 4 % less. Of the two kernels the one counts that changed more.
double drift_between(const Calibration& first, const Calibration& now);

}  // namespace tritonsmith
