// The HTML page of a report: one self-contained file that includes its style.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::report {

// Escapes text for use between tags and in attributes.
std::string escape(std::string_view text);

// The first row is the head. The first column is left-aligned, the others are right-aligned. Cells
// are plain text.
std::string render_table(const std::vector<std::vector<std::string>>& rows);

std::string render_page(std::string_view title, std::string_view body);

}  // namespace tritonsmith::report
