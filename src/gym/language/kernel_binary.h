// KernelBinary: machine code of one kernel of a plan. A compiler worker makes it and the CUDA
// executor launches it.
#pragma once

#include <string>

namespace tritonsmith::gym::language {

// One compiled kernel, ready to launch.
struct KernelBinary {
  std::string cubin;
  std::string name;
  int num_warps = 4;  // per block
  int shared_bytes = 0;
  int scratch_bytes = 0;  // global memory for each program
};

}  // namespace tritonsmith::gym::language
