// Where the lease of a GPU lies (base/lease.h): the same file for every process of the machine that
// uses this GPU, whatever number the process knows it by.
#pragma once

#include <filesystem>

#include "gym/cuda/driver.h"

namespace tritonsmith::gym::cuda {

std::filesystem::path lease_path(const GpuFacts& gpu);

}  // namespace tritonsmith::gym::cuda
