#include "train/run/trace.h"

#include <algorithm>

#include "base/file.h"

namespace tritonsmith::train {
namespace {

constexpr int kProcess = 1;

double microseconds(TimePoint at) {
  return std::chrono::duration<double, std::micro>(at.time_since_epoch()).count();
}

int thread_of(TraceLane lane) { return static_cast<int>(lane) + 1; }

Json event(const TraceSpan& span, std::int64_t step, const char* phase, TimePoint at) {
  return {{"name", span.name},       {"cat", name_of(span.lane)}, {"ph", phase},
          {"ts", microseconds(at)},  {"pid", kProcess},           {"tid", thread_of(span.lane)},
          {"args", {{"step", step}}}};
}

// A span that may overlap others becomes a pair of events with an id. Any other span is one event.
void add_events(const TraceSpan& span, std::int64_t step, Json& events) {
  if (span.lane == TraceLane::rollout || span.lane == TraceLane::training) {
    Json whole = event(span, step, "X", span.begin);
    whole["dur"] = microseconds(span.end) - microseconds(span.begin);
    events.push_back(std::move(whole));
    return;
  }
  for (const auto& [phase, at] : {std::pair("b", span.begin), std::pair("e", span.end)}) {
    Json half = event(span, step, phase, at);
    half["id"] = fmt::format("{}.{}", step, span.number);
    events.push_back(std::move(half));
  }
}

// Returns the recorded events without those of this step. The names of the lanes come first.
Result<Json> events_before(const std::filesystem::path& file, std::int64_t step) {
  Json events = Json::array();
  for (const TraceLane lane : {TraceLane::rollout, TraceLane::training})
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", kProcess},
                      {"tid", thread_of(lane)},
                      {"args", {{"name", name_of(lane)}}}});
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return events;
  TRY_ASSIGN(const std::string text, read_file(file));
  TRY_ASSIGN(const Json known, parse_json(text));
  if (!known.contains("traceEvents") || !known["traceEvents"].is_array())
    return fail("{}: no trace; remove it", file.string());
  for (const Json& each : known["traceEvents"])
    if (each.contains("args") && each["args"].contains("step") && each["args"]["step"] != step)
      events.push_back(each);
  return events;
}

}  // namespace

Fields<TraceSection> TraceSection::fields() {
  return {field("steps", &TraceSection::steps,
                "The time line of these steps, counted from 1, is written to trace.json.")};
}

bool TraceSection::wants(std::int64_t step) const {
  return std::ranges::find(steps, step) != steps.end();
}

Status write_trace(const std::filesystem::path& file, std::int64_t step,
                   std::span<const TraceSpan> spans) {
  TRY_ASSIGN(Json events, events_before(file, step));
  for (const TraceSpan& span : spans) add_events(span, step, events);
  return write_file_atomic(
      file, to_line({{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}}) + "\n");
}

}  // namespace tritonsmith::train
