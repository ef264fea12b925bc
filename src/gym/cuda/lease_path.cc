#include "gym/cuda/lease_path.h"

namespace tritonsmith::gym::cuda {

// Not $TMPDIR nor $XDG_RUNTIME_DIR: those are another folder for another user or service.
std::filesystem::path lease_path(const GpuFacts& gpu) {
  return std::filesystem::path("/tmp/tritonsmith-leases") / ("gpu-" + gpu.bus_id);
}

}  // namespace tritonsmith::gym::cuda
