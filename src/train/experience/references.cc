#include "train/experience/references.h"

#include "base/jsonl.h"

namespace tritonsmith::train {
namespace {

Status add_reference(const Json& json, References& references) {
  JsonReader reader(json);
  const std::string task = reader.string("task");
  const std::string kernel = reader.string("kernel");
  TRY(reader.status());
  if (!references.emplace(task, kernel).second) return fail("task '{}' has one already", task);
  return ok();
}

}  // namespace

Result<References> read_references(const std::filesystem::path& file) {
  References references;
  TRY(for_each_json_line(
      file, {}, [&](const JsonLine& line) { return add_reference(line.json, references); }));
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
