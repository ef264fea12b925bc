// Writes the HTML page of a report: one self-contained file that includes its style.
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
