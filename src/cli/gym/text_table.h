// TextTable: rows of text in columns, each as wide as its widest cell.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace tritonsmith::cli {

struct TextTable {
  std::vector<std::string> heads;
  std::vector<std::vector<std::string>> rows;
};

// Writes a line for the heads and for each row. The last column is not filled up.
std::string to_text(const TextTable& table);

// "3 s ago", "12 min ago", "5 h ago", "3 days ago". A time that is yet to come is "now".
std::string time_ago(std::int64_t then_ms, std::int64_t now_ms);

}  // namespace tritonsmith::cli
