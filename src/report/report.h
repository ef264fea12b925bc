// The report: one self-contained HTML page from the records of runs. What it shows was recorded;
// nothing is computed from anything but records.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace tritonsmith::report {

// Evaluations before and after, compared with `baseline` (as for evaluation_tables), others'
// published results beside them, curves of training, why candidates failed, and sample kernels with
// their verdicts.
std::string render_report(const std::string& title, const std::vector<RunRecords>& runs,
                          std::string_view baseline = "");

// The table of evaluations as plain text, for a terminal.
std::string evaluation_table(const std::vector<Evaluation>& evaluations);

}  // namespace tritonsmith::report
