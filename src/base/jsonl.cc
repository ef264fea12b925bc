#include "base/jsonl.h"

#include <algorithm>

#include "base/file.h"

namespace tritonsmith {

Result<std::size_t> for_each_json_line(const std::filesystem::path& file,
                                       const JsonlOptions& options,
                                       const std::function<Status(const JsonLine&)>& use) {
  TRY_ASSIGN(const auto lines, read_lines(file));
  for (std::size_t i = lines.size() - std::min(options.only_last, lines.size()); i < lines.size();
       ++i) {
    const auto json = parse_json(lines[i]);
    if (!json && options.last_line == LastLine::may_be_cut_off && i + 1 == lines.size()) break;
    const std::string location = fmt::format("{}:{}", file.string(), i + 1);
    TRY_WITHIN(location, json);
    TRY_WITHIN(location, use({.json = *json, .number = i + 1}));
  }
  return lines.size();
}

}  // namespace tritonsmith
