// StepRecord: one line of steps.jsonl: every number a trainer measured in one step, by name. Names
// with a slash are grouped ("reward/mean", "stage/compiled"); docs/records.md lists them all.
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

// Nothing where the step did not measure it.
std::optional<double> metric_of(const Metrics& metrics, std::string_view name);
std::optional<double> metric_of(const StepRecord& record, std::string_view name);

// A flat object, the metrics beside "schema", "step" and "phase". Numbers that JSON cannot hold
// (nan, inf) are written as null and not read back; reading sorts the metrics by name.
Json to_json(const StepRecord& record);
Result<StepRecord> step_from_json(const Json& json);

}  // namespace tritonsmith
