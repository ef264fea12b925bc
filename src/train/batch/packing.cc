#include "train/batch/packing.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"

namespace tritonsmith::train {

std::int64_t TrainingSequence::trained() const {
  std::int64_t count = 0;
  for_each_trained([&](std::size_t) { ++count; });
  return count;
}

namespace {

// The first token of a completion is predicted from a row of its own sequence, so the last token of
// a prompt is never shared.
model::SharedPrefix shared_prefix_of(std::span<const TrainingSequence> sequences,
                                     std::span<const std::size_t> before,
                                     const TrainingSequence& own) {
  model::SharedPrefix longest;
  const auto end = own.tokens.begin() + static_cast<std::ptrdiff_t>(own.prompt_length) - 1;
  for (std::size_t position = 0; position < before.size(); ++position) {
    const auto& other = sequences[before[position]].tokens;
    const auto same = std::mismatch(own.tokens.begin(), end, other.begin(), other.end() - 1).first;
    if (const std::int64_t length = same - own.tokens.begin(); length > longest.length)
      longest = {.sequence = static_cast<std::int64_t>(position), .length = length};
  }
  return longest;
}

std::span<const TokenId> prompt_of(const TrainingSequence& sequence) {
  return std::span(sequence.tokens).first(sequence.prompt_length);
}

}  // namespace

bool MicroBatchLayout::add(std::span<const TrainingSequence> sequences, std::size_t member,
                           const PackingOptions& options) {
  const TrainingSequence& own = sequences[member];
  const model::SharedPrefix prefix =
      options.shares_prompts ? shared_prefix_of(sequences, members, own) : model::SharedPrefix();
  const std::int64_t rest = std::ssize(own.tokens) - 1 - prefix.length;
  if (!members.empty() && tokens + rest > options.budget) return false;
  members.push_back(member);
  if (options.shares_prompts) prefixes.push_back(prefix);
  tokens += rest;
  shared += prefix.length;
  return true;
}

std::vector<MicroBatchLayout> pack_in_order(std::span<const TrainingSequence> sequences,
                                            std::span<const std::size_t> members,
                                            const PackingOptions& options) {
  std::vector<MicroBatchLayout> layouts;
  for (const std::size_t member : members)
    if (layouts.empty() || !layouts.back().add(sequences, member, options))
      layouts.emplace_back().add(sequences, member, options);
  return layouts;
}

PromptRuns runs_of_one_prompt(std::span<const TrainingSequence> sequences,
                              std::span<const std::size_t> members) {
  PromptRuns runs;
  for (const std::size_t member : members) {
    const auto prompt = prompt_of(sequences[member]);
    const std::int64_t length = std::ssize(sequences[member].tokens);
    if (!runs.members.empty() &&
        std::ranges::equal(prompt, prompt_of(sequences[runs.members.back().back()]))) {
      runs.members.back().push_back(member);
      runs.tokens.back() += length - std::ssize(prompt);
    } else {
      runs.members.push_back({member});
      runs.tokens.push_back(length);
    }
  }
  return runs;
}

EpochOrder::EpochOrder(std::uint64_t seed, std::string_view purpose, std::size_t examples)
    : seed_(seed), purpose_(purpose), order_(examples) {
  CHECK(examples > 0, "an order of no examples");
  shuffle_for(0);
}

std::size_t EpochOrder::at(std::uint64_t position) {
  if (const std::uint64_t epoch = position / order_.size(); epoch != epoch_) shuffle_for(epoch);
  return order_[position % order_.size()];
}

void EpochOrder::shuffle_for(std::uint64_t epoch) {
  epoch_ = epoch;
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  Rng(seed_, purpose_, epoch).shuffle(order_);
}

}  // namespace tritonsmith::train
