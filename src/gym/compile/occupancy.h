// Occupancy: the share of a multiprocessor's warps that a kernel can keep resident at once. Its
// registers, shared memory and block size bound it. The formula is that of NVIDIA's occupancy
// calculator. The limits of each chip come from the table of compute capabilities in NVIDIA's CUDA
// programming guide.
#pragma once

#include <string_view>

namespace tritonsmith::gym::compile {

struct BlockNeeds {
  int warps = 0;         // of one block
  int registers = 0;     // of one thread
  int shared_bytes = 0;  // of one block
};

// Between 0 and 1. 0 for a chip that is not listed, and for a block that does not fit.
double occupancy(const BlockNeeds& block, std::string_view target);

}  // namespace tritonsmith::gym::compile
