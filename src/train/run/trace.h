// Trace: a time line of chosen steps in Chrome's trace format, which Perfetto and chrome://tracing
// draw: trace.json in the run directory. A sample has spans that overlap with others. It is written
// from the request to the last token, and judged from the kernel to its verdict. Two further lanes
// show the loop's own work.
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

// rollout, training: the loop's work. writing, judging: a turn of a sample.
enum class TraceLane { rollout, training, writing, judging };

struct TraceSpan {
  TraceLane lane = TraceLane::training;
  std::string name;
  std::uint64_t number = 0;  // number of a sample's turn, because spans of one lane overlap
  TimePoint begin, end;
};

// Adds the step's spans to the file. They replace spans of the same step that a killed run may have
// left.
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
