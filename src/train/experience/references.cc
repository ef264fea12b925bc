#include "train/experience/references.h"

#include "base/file.h"
#include "base/json.h"

namespace tritonsmith::train {
namespace {

Status add_line(const std::string& line, References& references) {
  TRY_ASSIGN(const Json json, parse_json(line));
  JsonReader reader(json);
  const std::string task = reader.string("task");
  const std::string kernel = reader.string("kernel");
  TRY(reader.status());
  if (!references.emplace(task, kernel).second) return fail("task '{}' has one already", task);
  return ok();
}

}  // namespace

Result<References> read_references(const std::filesystem::path& file) {
  TRY_ASSIGN(const auto lines, read_lines(file));
  References references;
  for (std::size_t i = 0; i < lines.size(); ++i)
    TRY_WITHIN(fmt::format("{}:{}", file.string(), i + 1), add_line(lines[i], references));
  if (references.empty()) return fail("{} has no references", file.string());
  return references;
}

std::string references_to_jsonl(const References& references) {
  std::string text;
  for (const auto& [task, kernel] : references)
    text += to_line({{"task", task}, {"kernel", kernel}}) + '\n';
  return text;
}

}  // namespace tritonsmith::train
