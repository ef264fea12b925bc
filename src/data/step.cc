#include "data/step.h"

#include <cmath>

namespace tritonsmith {

std::optional<double> metric_of(const Metrics& metrics, std::string_view name) {
  for (const auto& [known, value] : metrics)
    if (known == name) return value;
  return std::nullopt;
}

std::optional<double> metric_of(const StepRecord& record, std::string_view name) {
  return metric_of(record.metrics, name);
}

Json to_json(const StepRecord& record) {
  Json json = {{"schema", 1}, {"step", record.step}, {"phase", record.phase}};
  for (const auto& [name, value] : record.metrics)
    json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  return json;
}

Result<StepRecord> step_from_json(const Json& json) {
  JsonReader reader(json);
  StepRecord record{.step = reader.integer("step"), .phase = reader.string("phase"), .metrics = {}};
  TRY(reader.status());
  for (const auto& [name, value] : json.items())
    if (value.is_number() && name != "step" && name != "schema")
      record.metrics.emplace_back(name, value.get<double>());
  return record;
}

}  // namespace tritonsmith
