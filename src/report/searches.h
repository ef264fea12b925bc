// Shows searches for a kernel: how the best one came about, and what each attempt brought.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace tritonsmith::report {

// Compares the runs that searched on a suite: the share of the tasks with an accepted kernel, over
// the attempts. Empty without such a run.
std::string render_search_comparison(const std::vector<RunRecords>& runs);

// Shows for each search of the run its curves, its best kernel beside the task, and a row for each
// attempt. A single search also shows its other kernels. The searches of several tasks are folded.
// Empty without searches.
std::string render_searches(const RunRecords& run);

}  // namespace tritonsmith::report
