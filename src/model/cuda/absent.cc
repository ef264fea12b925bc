// Stands in for the kernels where the build has no nvcc.
#include "model/cuda/kernels.h"

namespace tritonsmith::model::cuda {

const Kernels* kernels() { return nullptr; }

}  // namespace tritonsmith::model::cuda
