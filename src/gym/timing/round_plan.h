// The plan of a timing's rounds: how many come before the first look at the intervals, how many
// make
// a sample, which of them run the reference, and what fills the cache before a side runs. Pure;
// timed_rounds.cc acts on it.
#pragma once

#include <cstdint>

namespace tritonsmith::gym::timing {

struct RoundPlan {
  int fewest = 6;           // before the first look: as many samples as an interval needs
  int batch = 4;            // between two looks
  int rounds_a_sample = 1;  // a sample is their mean
};
// The milliseconds that one round of the candidate took decide. Rounds of short kernels alternate
// between two times some 2 % apart (docs/results/replay-timing.md), so two that follow each other
// make a sample. Few rounds that happen to agree would end the timing too early.
RoundPlan round_plan(double milliseconds);
inline constexpr int kLargestBatch = 48;

// How well the reference's time is known: not at all, from earlier jobs, or well enough.
enum class ReferenceTime { unknown, remembered, known };
// Whether the reference runs behind the nth round. Once its time is known, a few rounds are enough
// to see that it stays so. The first batch confirms a remembered time.
bool runs_reference(const RoundPlan& plan, int nth, ReferenceTime time);

// How many bytes are written to flush the cache before a side of a round runs: twice what the cache
// holds. That also leaves it full of lines that must be written back, as a benchmark's zeroed
// buffer
// does.
std::int64_t flush_bytes(std::int64_t cache_bytes);

// Whether the candidate's rounds take turns between two sets of its buffers, of `buffer_bytes`
// each.
// Poisoning the buffers of the last round then fills the cache for the next one, which writes the
// others, so less must be written. This is not worth it for a few bytes, nor is the memory where
// the
// flush is a small part of a round.
bool takes_turns(std::int64_t buffer_bytes, std::int64_t cache_bytes);

}  // namespace tritonsmith::gym::timing
