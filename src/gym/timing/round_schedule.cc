#include "gym/timing/round_schedule.h"

#include <algorithm>

namespace tritonsmith::gym::timing {

RoundSchedule round_schedule(double milliseconds) {
  constexpr double short_milliseconds = 0.5;
  if (milliseconds >= short_milliseconds) return {};
  return {.fewest = kLargestBatch, .batch = 8, .rounds_a_sample = 2};
}

bool runs_reference(const RoundSchedule& schedule, int nth, ReferenceTime time) {
  constexpr int rounds_per_reference = 6, needed_to_confirm = 6;
  switch (time) {
    case ReferenceTime::known:
      return nth % rounds_per_reference == 0;
    case ReferenceTime::remembered:
      return nth >= schedule.fewest || nth % (schedule.fewest / needed_to_confirm) == 0;
    case ReferenceTime::unknown:
      break;
  }
  return true;
}

std::int64_t flush_bytes(std::int64_t cache_bytes) {
  constexpr std::int64_t least = 1 << 20;
  return std::max(2 * cache_bytes, least);
}

bool alternates_buffers(std::int64_t buffer_bytes, std::int64_t cache_bytes) {
  return buffer_bytes >= cache_bytes / 4 && buffer_bytes <= 8 * cache_bytes;
}

}  // namespace tritonsmith::gym::timing
