// Names the file of a GPU's lease (base/lease.h). All processes of the machine that use this GPU
// get the same file, whatever index the GPU has in them.
#pragma once

#include <filesystem>

#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

std::filesystem::path lease_path(const GpuFacts& gpu);

}  // namespace tritonsmith::gym::cuda
