#include "report/markdown.h"

#include "report/published.h"

namespace tritonsmith::report {
namespace {

// Escapes a cell's text, which must not end its column or its line, nor begin a tag.
std::string cell(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|' || c == '\\')
      safe += '\\', safe += c;
    else if (c == '<')
      safe += "&lt;";
    else
      safe += c == '\n' || c == '\r' ? ' ' : c;
  }
  return safe;
}

std::string line_of(const std::vector<std::string>& row) {
  std::string line = "|";
  for (const std::string& text : row) line += fmt::format(" {} |", cell(text));
  return line + '\n';
}

}  // namespace

std::string to_markdown(const Table& table) {
  std::string text = fmt::format("## {}\n", cell(table.title));
  if (!table.note.empty()) text += fmt::format("{}\n", cell(table.note));
  if (table.rows.empty()) return text + '\n';
  text += '\n' + line_of(table.rows[0]) + '|';
  for (std::size_t i = 0; i < table.rows[0].size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += '\n';
  for (std::size_t i = 1; i < table.rows.size(); ++i) text += line_of(table.rows[i]);
  return text + '\n';
}

std::string render_markdown(const std::string& title, const std::vector<Evaluation>& evaluations,
                            std::string_view baseline) {
  std::string text = fmt::format("# {}\n\n", cell(title));
  for (const Table& table : evaluation_tables(evaluations, baseline)) text += to_markdown(table);
  if (const Table ours = kernelbench_table(evaluations); ours.rows.size() > 1)
    text += to_markdown(ours);
  for (const Table& table : published_tables()) text += to_markdown(table);
  if (!evaluations.empty()) text += to_markdown(task_table(evaluations));
  return text;
}

}  // namespace tritonsmith::report
