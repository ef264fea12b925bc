// Measures how fast a GPU is now, by kernels of known work (gym/cuda/calibration.h).
#pragma once

#include "data/calibration.h"
#include "gym/referee/equipment.h"

namespace tritonsmith::gym::referee {

// Fails if the GPU lacks memory or stops. Whatever else it does meanwhile counts as slowness.
Result<Calibration> calibrate(device::CudaDevice& gpu);

// The same, alone: other programs that share the lease of the GPU pause meanwhile. Fails if one of them
// does not pause, or if there is no GPU, because then nothing is known about its speed.
Result<Calibration> calibrate(Equipment& equipment);

}  // namespace tritonsmith::gym::referee
