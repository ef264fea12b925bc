// Faults of the device in the words of a verdict.
#pragma once

#include "data/verdict.h"
#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

// A fault of the device, or CUDA_ERROR_NOT_READY at a deadline, as what the candidate did.
VerdictError describe_fault(CUresult result);

}  // namespace tritonsmith::gym::cuda
