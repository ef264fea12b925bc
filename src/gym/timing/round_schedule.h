// Plans a timing's rounds: how many rounds come before the first look at the intervals, how many
// make a sample, which run the reference, and what fills the cache before a side runs. Pure.
// timed_rounds.cc acts on it.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::timing {

struct RoundSchedule {
  int fewest = 6;           // before the first look: as many samples as an interval needs
  int batch = 4;            // between two looks
  int rounds_a_sample = 1;  // a sample is their mean
};
// Makes the schedule from the milliseconds that one round of the candidate took. Rounds of short
// kernels alternate between two times some 2 % apart (docs/results/replay-timing.md), so two
// consecutive rounds make a sample. Without this, a few rounds that happen to agree would end the
// timing too early.
RoundSchedule round_schedule(double milliseconds);
inline constexpr int kLargestBatch = 48;

// How well the reference's time is known: not at all, from earlier jobs, or well enough.
enum class ReferenceTime { unknown, remembered, known };
// Says whether the reference runs after the candidate in the nth round. Once the reference's time
// is known, a few rounds are enough to see that it stays the same. The first batch confirms a time
// that earlier jobs remembered.
bool runs_reference(const RoundSchedule& schedule, int nth, ReferenceTime time);

// Returns how many bytes are written to flush the cache before a side of a round runs: twice the
// size of the cache. The flush also leaves the cache full of lines that must be written back, as
// the zeroed buffer of a benchmark does.
std::int64_t flush_bytes(std::int64_t cache_bytes);

// Says whether the candidate's rounds alternate between two sets of its buffers, of `buffer_bytes`
// each. Poisoning the buffers of the last round then fills the cache for the next round, which uses
// the other set, so the flush writes less. Two sets are not worth it for a few bytes, nor is the
// second set's memory where the flush is a small part of a round.
bool alternates_buffers(std::int64_t buffer_bytes, std::int64_t cache_bytes);

}  // namespace tritonsmith::gym::timing
