// How the rounds of a timing are laid out: how many come before the first look at the intervals,
// how many make a sample, which of them run the reference, and what fills the cache before a side
// runs. Pure; timing.cc acts on it.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::timing {

struct RoundPlan {
  int fewest = 6;           // before the first look: as many samples as an interval needs
  int batch = 4;            // between two looks
  int rounds_a_sample = 1;  // whose mean is one
};
// By the milliseconds that one round of the candidate took. Rounds of short kernels alternate
// between two times some 2 % apart, whatever is done between them (docs/results/replay-timing.md),
// so two that follow each other make a sample; and few that happen to agree would end it too early.
RoundPlan round_plan(double milliseconds);
inline constexpr int kLargestBatch = 48;

// What is known of the reference's time: nothing yet; what earlier jobs measured; enough.
enum class ReferenceTime { unknown, remembered, known };
// Whether the reference runs behind the nth round. Once its time is known a few rounds are enough
// to see that it stays so; a remembered one is to be confirmed by the first batch.
bool runs_reference(const RoundPlan& plan, int nth, ReferenceTime time);

// Before a side of a round runs, so many bytes that it does not touch have been written since the
// last that it does: twice what the cache holds, which also leaves it full of lines that must be
// written back, as a benchmark's zeroed buffer does.
std::int64_t flush_bytes(std::int64_t cache_bytes);

// Whether the candidate's rounds take turns between two sets of its buffers, which hold so many
// bytes each. Then the poison of those that were just looked at fills the cache for the next round,
// which writes the others: nothing else need be written. Not worth it for a few bytes, nor is the
// memory where the flush is a small part of a round.
bool takes_turns(std::int64_t buffer_bytes, std::int64_t cache_bytes);

}  // namespace tritonsmith::gym::timing
