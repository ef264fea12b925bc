// Makes the zoo: PyTorch modules of two to six operators, to make pairs of (tasks pairs). Its
// grammar is wider than the curriculum's: convolutions, pooling, norms, attention, losses, scans,
// views and more, chained or branched, each written in another style. Equal options give equal
// modules on every machine, and no two modules of a zoo are equal.
#pragma once

#include <vector>

#include "base/config.h"
#include "data/task.h"

namespace tritonsmith::curriculum::zoo {

struct ZooOptions {
  std::uint64_t seed = 1;
  int count = 1000;
  int min_operators = 2;
  int max_operators = 6;
  static Fields<ZooOptions> fields();
};

// Gives fewer than asked for if many draws in a row give nothing new.
std::vector<Task> make_zoo(const ZooOptions& options);

}  // namespace tritonsmith::curriculum::zoo
