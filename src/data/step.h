// StepRecord: one line of steps.jsonl, with every number that a trainer measured in one step. A
// slash in a name makes a group ("reward/mean", "stage/compiled"). docs/records.md lists all names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace tritonsmith {

using Metrics = std::vector<std::pair<std::string, double>>;

struct StepRecord {
  std::int64_t step = 0;  // from 1
  std::string phase;      // "sft" or "rl"
  Metrics metrics;
  bool operator==(const StepRecord&) const = default;
};

// Returns nothing if the step did not measure it.
std::optional<double> metric_of(const Metrics& metrics, std::string_view name);
std::optional<double> metric_of(const StepRecord& record, std::string_view name);

// A flat object: the metrics stand beside "schema", "step" and "phase". JSON cannot hold nan and
// inf: they are written as null and are not read back. Reading sorts the metrics by name.
Json to_json(const StepRecord& record);
Result<StepRecord> step_from_json(const Json& json);

}  // namespace tritonsmith
