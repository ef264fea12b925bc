// Comparison of two evaluations of the same tasks, paired: for each measure the mean over tasks of
// the difference, with a 95 % interval from a bootstrap over tasks (Efron, 1979: 10,000 samples of
// tasks with replacement, percentiles 2.5 and 97.5). Tasks vary far more than samples of a task, so
// pairing them is what makes small differences visible. Pure; the same records give the same
// interval.
#pragma once

#include <string>
#include <vector>

#include "data/evaluation.h"

namespace tritonsmith::report {

struct Difference {
  std::string measure;           // "accepted", "fast_1.2", ...
  double before = 0, after = 0;  // means over the shared tasks
  double low = 0, high = 0;      // of after - before
  int tasks = 0;

  bool is_clear() const { return low > 0 || high < 0; }
};

// Of the tasks that both have; nothing when they share none, or were judged by different policies.
std::vector<Difference> compare(const Evaluation& before, const Evaluation& after);

}  // namespace tritonsmith::report
