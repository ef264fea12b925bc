// StepTrace: the loop's own spans in the time line of a step (run/trace.h), for the steps that the
// config chooses. The loop's thread owns it.
#pragma once

#include <string>
#include <vector>

#include "train/run/trace.h"
#include "train/run/training_run.h"

namespace tritonsmith::train {

class StepTrace {
 public:
  StepTrace(const TraceSection& section, TrainingRun& run) : section_(section), run_(run) {}

  // Adds a span from `begin` until the time of the call.
  void add(TraceLane lane, std::string name, TimePoint begin);
  // Writes the step's trace, with the spans of its rollout. Only the first rank writes.
  Status write(const std::vector<TraceSpan>& of_rollout);

 private:
  const TraceSection& section_;
  TrainingRun& run_;
  std::vector<TraceSpan> spans_;
};

}  // namespace tritonsmith::train
