// The report as Markdown: the tables of evaluations, for a README or an issue. The page in HTML
// (report.h) has the curves and samples besides.
#pragma once

#include <string>
#include <vector>

#include "report/tables.h"

namespace tritonsmith::report {

// `baseline`: as for evaluation_tables.
std::string render_markdown(const std::string& title, const std::vector<Evaluation>& evaluations,
                            std::string_view baseline = "");

// One table: its title as a heading, its note, its rows. Cells are made safe.
std::string to_markdown(const Table& table);

}  // namespace tritonsmith::report
