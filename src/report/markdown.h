// Writes the report as Markdown: the tables of evaluations, for a README or an issue. The HTML page
// (report.h) also has curves and samples.
#pragma once

#include <string>
#include <vector>

#include "report/tables.h"

namespace tritonsmith::report {

// `baseline` has the same meaning as for evaluation_tables.
std::string render_markdown(const std::string& title, const std::vector<Evaluation>& evaluations,
                            std::string_view baseline = "");

// Writes one table: its title as a heading, its note, its rows. Cells are escaped.
std::string to_markdown(const Table& table);

}  // namespace tritonsmith::report
