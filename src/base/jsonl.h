// Reads JSONL: a file with one JSON value a line. Every error begins with "FILE:LINE: ".
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

struct JsonLine {
  const Json& json;
  std::size_t number = 0;  // from 1
};

// A process that was killed while it wrote leaves a last line that is cut off.
enum class LastLine { must_be_whole, may_be_cut_off };

struct JsonlOptions {
  LastLine last_line = LastLine::must_be_whole;
  std::size_t only_last = std::string::npos;  // reads at most so many lines, from the end
};

// Calls `use` with each line in order, until one fails. Returns the number of lines in the file.
Result<std::size_t> for_each_json_line(const std::filesystem::path& file,
                                       const JsonlOptions& options,
                                       const std::function<Status(const JsonLine&)>& use);

// Returns what `from_json` makes of each line.
template <typename FromJson>
auto read_jsonl(const std::filesystem::path& file, FromJson from_json,
                const JsonlOptions& options = {})
    -> Result<std::vector<typename std::invoke_result_t<FromJson, const Json&>::value_type>> {
  std::vector<typename std::invoke_result_t<FromJson, const Json&>::value_type> items;
  TRY(for_each_json_line(file, options, [&](const JsonLine& line) -> Status {
    TRY_ASSIGN(auto item, from_json(line.json));
    items.push_back(std::move(item));
    return ok();
  }));
  return items;
}

}  // namespace tritonsmith
