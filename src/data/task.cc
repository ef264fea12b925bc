#include "data/task.h"

namespace tritonsmith {

Json to_json(const Task& task) {
  Json json = {{"schema", 1},
               {"id", task.id},
               {"suite", task.suite},
               {"source", task.source},
               {"instruction", task.instruction},
               {"family", task.family},
               {"composition", task.composition},
               {"scale", name_of(task.scale)},
               {"split", name_of(task.split)}};
  if (task.tolerance) json["tolerance"] = *task.tolerance;
  if (task.origin) json["origin"] = to_json(*task.origin);
  return json;
}

Result<Task> task_from_json(const Json& json) {
  JsonReader reader(json);
  Task task{.id = reader.string("id"),
            .suite = reader.string("suite", ""),
            .source = reader.string("source"),
            .instruction = reader.string("instruction", ""),
            .family = reader.string("family", ""),
            .composition = reader.string("composition", ""),
            .scale = reader.enumerated("scale", std::optional(TaskScale::small)),
            .split = reader.enumerated("split", std::optional(TaskSplit::train)),
            .tolerance = std::nullopt};
  if (reader.has("tolerance")) task.tolerance = reader.number("tolerance");
  TRY(reader.status());
  if (reader.has("origin")) {
    TRY_ASSIGN(task.origin, origin_from_json(json["origin"]));
  }
  return task;
}

}  // namespace tritonsmith
