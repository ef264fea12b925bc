// Trace: where the time of chosen steps went, as a time line in Chrome's trace format (Perfetto and
// chrome://tracing draw it): trace.json in the run directory. Samples are spans of their own that
// overlap: written (from the request to the last token) and judged (from the kernel to its
// verdict), as the loop saw it; what the loop does itself lies in two lanes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/json.h"

namespace tritonsmith::train {

struct TraceSection {
  std::vector<std::int64_t> steps;
  static Fields<TraceSection> fields();

  bool wants(std::int64_t step) const;
};

// rollout, training: what the loop does. writing, judging: a turn of a sample.
enum class TraceLane { rollout, training, writing, judging };

struct TraceSpan {
  TraceLane lane = TraceLane::training;
  std::string name;
  std::uint64_t number = 0;  // of a sample's turn: those of one lane overlap
  TimePoint begin, end;
};

// Adds the step's spans to the file, in place of what a run that was killed may have left there of
// the same step.
Status write_trace(const std::filesystem::path& file, std::int64_t step,
                   std::span<const TraceSpan> spans);

}  // namespace tritonsmith::train

template <>
inline constexpr auto tritonsmith::enum_names<tritonsmith::train::TraceLane> =
    tritonsmith::names<tritonsmith::train::TraceLane>(
        {{tritonsmith::train::TraceLane::rollout, "rollout"},
         {tritonsmith::train::TraceLane::training, "training"},
         {tritonsmith::train::TraceLane::writing, "writing"},
         {tritonsmith::train::TraceLane::judging, "judging"}});
