// Draws the charts of a training run: every number that its steps recorded, in groups. If the mean
// reward fell because a stage stopped paying, a sentence says so.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace tritonsmith::report {

// HTML; empty where the run recorded no steps.
std::string render_charts(const RunRecords& run);

// "`compiled` pays less from step 34 on ...", a sentence for each stage that stopped paying.
std::vector<std::string> saturated_stages(const RunRecords& run);

// The mean reward of each step, had every term kept the weight of the first step. Empty where no
// weight changed.
std::vector<Point> reward_at_first_weights(const RunRecords& run);

}  // namespace tritonsmith::report
