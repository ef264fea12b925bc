#include "cli/tasks/given_pairs.h"

#include <fmt/format.h>

#include "base/json.h"

namespace tritonsmith::cli {

Status GivenPairs::write(const Json& row) {
  JsonReader reader(row);
  std::string source = reader.string("source", ""), kernel = reader.string("kernel", "");
  std::string id = reader.string("task", "");
  TRY(reader.status());
  if (source.empty() || kernel.empty()) {
    ++incomplete_;
    return ok();
  }
  if (!kernels_.emplace(source, std::move(kernel)).second) return ok();
  Task task{.source = std::move(source)};
  if (row.contains("origin")) {
    TRY_ASSIGN(task.origin, origin_from_json(row["origin"]));
  }
  task.id = id.empty() ? fmt::format("row{}", tasks_.size() + 1) : std::move(id);
  tasks_.push_back(std::move(task));
  return ok();
}

}  // namespace tritonsmith::cli
