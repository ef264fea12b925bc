// Explanations: what a finding, an error class or a stage of a verdict means, and what to do about
// it. They are the rows of the tables of docs/verdict.md, which is part of the program. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith::serve::mcp {

struct Explanation {
  std::string name;
  std::string section;  // the heading above the table: "Findings from the source"
  // The cells of the row by the table's heads, without the first: "meaning", "what to do". A link
  // is a place in the repository there: "docs/judging.md".
  std::vector<std::pair<std::string, std::string>> cells;
};

// Returns docs/verdict.md.
std::string_view verdict_page();

// Returns every row of `page` whose first cell has the name in backticks.
std::vector<Explanation> explanations_of(std::string_view page, std::string_view name);
// Returns all such names, once each.
std::vector<std::string> explained_names(std::string_view page);

}  // namespace tritonsmith::serve::mcp
