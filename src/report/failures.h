// Counts why samples were not accepted, each sample once.
#pragma once

#include <vector>

#include "report/records.h"
#include "report/tables.h"

namespace tritonsmith::report {

// A column for each evaluation and for each run of `rl`, a row for each reason, the most frequent
// first; then how many were accepted, and all. No rows but the head where nothing was judged.
Table failure_table(const std::vector<RunRecords>& runs);

}  // namespace tritonsmith::report
