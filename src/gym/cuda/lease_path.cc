#include "gym/cuda/lease_path.h"

namespace tritonsmith::gym::cuda {

// $TMPDIR and $XDG_RUNTIME_DIR would not do, because they differ between users and services.
std::filesystem::path lease_path(const GpuFacts& gpu) {
  return std::filesystem::path("/tmp/tritonsmith-leases") / ("gpu-" + gpu.bus_id);
}

}  // namespace tritonsmith::gym::cuda
