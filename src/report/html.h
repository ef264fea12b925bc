// The page around a report: one self-contained HTML file with its style and its script inside. The
// page reads well without the script; the script adds values under the pointer, sorting of tables
// and a filter of samples.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tritonsmith::report {

// Text made safe between tags and in attributes. Control characters are shown (base/printable.h).
std::string escape(std::string_view text);

// The first row is the head; the first column is left-aligned, the others right-aligned. Cells are
// plain text. A click on a head sorts by that column.
std::string render_table(const std::vector<std::vector<std::string>>& rows);

// A heading and its text behind a line that opens them.
std::string folded(std::string_view summary, const std::string& html);

// A part of the page that its contents list.
struct Section {
  std::string title;
  std::string html;
};

// `head` stands between the title and the contents.
std::string render_page(std::string_view title, std::string_view head,
                        const std::vector<Section>& sections);

}  // namespace tritonsmith::report
