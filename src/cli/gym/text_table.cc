#include "cli/gym/text_table.h"

#include <algorithm>

namespace tritonsmith::cli {

std::string to_text(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const std::string& head : table.heads) widths.push_back(head.size());
  for (const auto& row : table.rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t k = 0; k < cells.size(); ++k)
      text += fmt::format("{:<{}}", cells[k], k + 1 < cells.size() ? widths[k] + 2 : 0);
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = line(table.heads);
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string time_ago(std::int64_t then_ms, std::int64_t now_ms) {
  constexpr std::int64_t minute = 60, hour = 3600, day = 86400;
  const std::int64_t seconds = (now_ms - then_ms) / 1000;
  if (seconds < 0) return "now";
  if (seconds < 2 * minute) return fmt::format("{} s ago", seconds);
  if (seconds < 2 * hour) return fmt::format("{} min ago", seconds / minute);
  if (seconds < 2 * day) return fmt::format("{} h ago", seconds / hour);
  return fmt::format("{} days ago", seconds / day);
}

}  // namespace tritonsmith::cli
