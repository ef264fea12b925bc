// The page around a report: one self-contained HTML file with its style inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::report {

// Text made safe between tags and in attributes.
std::string escape(std::string_view text);

// The first row is the head; the first column is left-aligned, the others right-aligned. Cells are
// plain text.
std::string render_table(const std::vector<std::vector<std::string>>& rows);

std::string render_page(std::string_view title, std::string_view body);

}  // namespace tritonsmith::report
