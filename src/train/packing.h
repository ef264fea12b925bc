// Packing: sequences of an optimizer step laid end to end, without padding, in micro-batches of a
// token budget; and the order in which the sequences of a data set come. Pure, so that a resumed
// run packs the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/completion.h"
#include "data/kernel.h"
#include "model/shared_keys.h"

namespace tritonsmith::train {

// A prompt and its completion as one row of tokens; the loss is on the completion's alone. In many
// turns what stands between the completions (feedback, marks of the chat) is context, not trained.
struct TrainingSequence {
  std::vector<TokenId> tokens;  // prompt, then completion
  std::size_t prompt_length = 0;
  std::vector<Span> context;  // indices of tokens after the prompt, in order, not overlapping

  std::int64_t trained() const;
  // The places of the trained tokens, in order.
  template <typename Visit>
  void for_each_trained(Visit visit) const {
    auto next = context.begin();
    for (std::size_t t = prompt_length; t < tokens.size(); ++t) {
      while (next != context.end() && next->end <= t) ++next;
      if (next == context.end() || t < next->begin) visit(t);
    }
  }
};

struct PackingOptions {
  std::int64_t budget = 8192;   // tokens that one pass computes
  bool shares_prompts = false;  // what prompts have in common is computed once in a pass
};

// The sequences of a micro-batch, as it fills up. The last token of a sequence predicts nothing and
// is left out. With shared prompts each sequence begins with as many tokens of its prompt, but for
// the last, as one before it begins with too: the first of those with most.
struct MicroBatchPlan {
  std::vector<std::size_t> members;
  std::vector<model::Beginning> beginnings;  // of each, by place; empty where none are shared
  std::int64_t tokens = 0;                   // that are computed
  std::int64_t shared = 0;                   // that are not, since they are shared

  // Takes the sequence in, or leaves the plan as it is where it would exceed the budget. The first
  // always fits.
  bool add(std::span<const TrainingSequence> sequences, std::size_t member,
           const PackingOptions& options);
};

// Cuts the members into micro-batches: as many in a row as the budget takes.
std::vector<MicroBatchPlan> pack_in_order(std::span<const TrainingSequence> sequences,
                                          std::span<const std::size_t> members,
                                          const PackingOptions& options);

// Members in runs of one prompt, and what each run costs if it is computed with its prompt shared.
struct PromptRuns {
  std::vector<std::vector<std::size_t>> members;
  std::vector<std::int64_t> tokens;
};
PromptRuns runs_of_one_prompt(std::span<const TrainingSequence> sequences,
                              std::span<const std::size_t> members);

// Which example stands at a place of the endless stream that goes through the data set again and
// again, shuffled anew in each epoch by Rng(seed, purpose, epoch).
class EpochOrder {
 public:
  EpochOrder(std::uint64_t seed, std::string_view purpose, std::size_t examples);
  std::size_t at(std::uint64_t place);
  double epochs_at(std::uint64_t place) const {
    return static_cast<double>(place) / static_cast<double>(order_.size());
  }

 private:
  void shuffle_for(std::uint64_t epoch);
  std::uint64_t seed_;
  std::string purpose_;
  std::uint64_t epoch_ = 0;
  std::vector<std::size_t> order_;
};

}  // namespace tritonsmith::train
