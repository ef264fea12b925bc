#include "serve/mcp/explanations.h"

#include <algorithm>

namespace tritonsmith::serve::mcp {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Splits "| a | b |" at its bars. "\|" is a bar in a cell.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.emplace_back(trimmed(cell));
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

// Returns what a reader without the page can look up in place of a link: the page in the
// repository, behind the link's text unless that is the page's name itself.
std::string place_of(std::string_view text, std::string_view target) {
  if (target.find("://") != std::string_view::npos) return fmt::format("{} ({})", text, target);
  const std::string place =
      fmt::format("docs/{}{}", target.starts_with('#') ? "verdict.md" : "", target);
  return text == target ? place : fmt::format("{} ({})", text, place);
}

// Returns a cell with a place for each link, "[text](target)".
std::string without_links(std::string_view cell) {
  std::string plain;
  while (true) {
    const std::size_t open = cell.find('['), middle = cell.find("](", open);
    const std::size_t close = cell.find(')', middle);
    if (close == std::string_view::npos) return plain + std::string(cell);
    const std::size_t begin = cell.rfind('[', middle);  // "a[0], [text](target)"
    plain += cell.substr(0, begin);
    plain += place_of(cell.substr(begin + 1, middle - begin - 1),
                      cell.substr(middle + 2, close - middle - 2));
    cell.remove_prefix(close + 1);
  }
}

// Returns the texts in backticks.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t open = cell.find('`'); open != std::string_view::npos;) {
    const std::size_t close = cell.find('`', open + 1);
    if (close == std::string_view::npos) break;
    names.emplace_back(cell.substr(open + 1, close - open - 1));
    open = cell.find('`', close + 1);
  }
  return names;
}

// Calls `each` for every row of every table, with its section and the table's heads.
template <typename Each>
void for_each_row(std::string_view page, const Each& each) {
  std::string section;
  std::vector<std::string> heads;
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    const std::string_view line = page.substr(0, end);
    page.remove_prefix(std::min(end + 1, page.size()));
    if (line.starts_with("#"))
      section = trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size())));
    if (!line.starts_with("|")) {
      heads.clear();
    } else if (heads.empty()) {
      heads = cells_of(line);
    } else if (!line.starts_with("|---")) {
      each(section, heads, cells_of(line));
    }
  }
}

}  // namespace

std::vector<Explanation> explanations_of(std::string_view page, std::string_view name) {
  std::vector<Explanation> found;
  for_each_row(page, [&](const std::string& section, const auto& heads, const auto& cells) {
    const auto names = cells.empty() ? std::vector<std::string>() : names_in(cells.front());
    if (std::ranges::find(names, name) == names.end()) return;
    Explanation explanation{.name = std::string(name), .section = section, .cells = {}};
    for (std::size_t i = 1; i < std::min(heads.size(), cells.size()); ++i)
      if (!cells[i].empty()) explanation.cells.emplace_back(heads[i], without_links(cells[i]));
    found.push_back(std::move(explanation));
  });
  return found;
}

std::vector<std::string> explained_names(std::string_view page) {
  std::vector<std::string> names;
  for_each_row(page, [&](const std::string&, const auto&, const auto& cells) {
    if (cells.empty()) return;
    for (std::string& name : names_in(cells.front()))
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  });
  return names;
}

}  // namespace tritonsmith::serve::mcp
