// Compares two evaluations on the same tasks, paired by task. For each measure it gives the mean
// difference over tasks with a 95 % interval. The interval comes from a bootstrap over tasks
// (Efron, 1979): 10,000 samples of tasks with replacement, percentiles 2.5 and 97.5. Tasks differ
// far more than samples of one task, so pairing makes small differences visible. The functions are
// pure; equal records give equal intervals.
#pragma once

#include <string>
#include <vector>

#include "data/evaluation.h"

namespace tritonsmith::report {

struct Difference {
  std::string measure;           // "accepted", "fast_1.2", ...
  double before = 0, after = 0;  // means over the shared tasks
  double low = 0, high = 0;      // interval of after - before
  int tasks = 0;

  bool is_clear() const { return low > 0 || high < 0; }
};

// Compares the tasks that both have. Returns nothing if they share no task, or if different
// policies judged them.
std::vector<Difference> compare(const Evaluation& before, const Evaluation& after);

}  // namespace tritonsmith::report
