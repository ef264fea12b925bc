// KernelBinary: machine code of one kernel of a plan. A compiler worker makes it and the CUDA
// executor launches it.
#pragma once

#include <string>

namespace tritonsmith::gym::language {

// A kernel of the candidate's plan as a compiler worker made it, ready to launch.
struct KernelBinary {
  std::string cubin;
  std::string name;
  int num_warps = 4;  // of a block
  int shared_bytes = 0;
  int scratch_bytes = 0;  // of global memory, for each program
};

}  // namespace tritonsmith::gym::language
