// The report: one self-contained HTML page from the records of runs. Everything that it shows comes
// from records.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace tritonsmith::report {

// The page compares evaluations with `baseline` (as evaluation_tables does) and shows published
// results of others. It also has searches, training curves, the causes of failures, and sample
// kernels with their verdicts.
std::string render_report(const std::string& title, const std::vector<RunRecords>& runs,
                          std::string_view baseline = "");

// Returns the table of evaluations as plain text for a terminal.
std::string evaluation_table(const std::vector<Evaluation>& evaluations);

}  // namespace tritonsmith::report
