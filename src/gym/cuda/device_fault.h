// Describes faults of the device as errors of a verdict.
#pragma once

#include "data/verdict.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

// Turns a fault of the device, or CUDA_ERROR_NOT_READY at a deadline, into the candidate's error.
VerdictError describe_fault(CUresult result);

}  // namespace tritonsmith::gym::cuda
