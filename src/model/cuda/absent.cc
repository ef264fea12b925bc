// Replaces the kernels in a build without nvcc.
#include "model/cuda/kernels.h"

namespace tritonsmith::model::cuda {

const Kernels* kernels() { return nullptr; }

}  // namespace tritonsmith::model::cuda
