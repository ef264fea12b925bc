// LaunchTrace: which tensors of the plan the kernels of one launch step read and wrote. The
// analysis of data flow over own kernels reads it.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace tritonsmith::gym::replay {

// The tensors that the launches of one step read and wrote.
struct LaunchTrace {
  std::vector<int> loaded_tensors;
  std::vector<int> stored_tensors;
};

// Traces by the index of the launch's step, as Replay::launches() returns them.
using LaunchTraces = std::map<std::size_t, LaunchTrace>;

}  // namespace tritonsmith::gym::replay
