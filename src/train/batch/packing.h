// Packing: sequences of an optimizer step laid end to end without padding, in micro-batches with a
// token budget. It also defines the order of a data set's sequences. Everything is pure, so a
// resumed run packs in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "data/completion.h"
#include "data/kernel.h"
#include "model/batch/shared_keys.h"

namespace tritonsmith::train {

// A prompt and its completion as one row of tokens. Only the completion's tokens have a loss. In
// many turns, the tokens between completions (feedback, chat markers) are context and not trained.
struct TrainingSequence {
  std::vector<TokenId> tokens;  // prompt, then completion
  std::size_t prompt_length = 0;
  std::vector<Span> context;  // ranges of tokens after the prompt, in order, without overlap

  std::int64_t trained() const;
  // Calls visit(index) for each trained token in order.
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
  bool shares_prompts = false;  // the common tokens of prompts are computed once in a pass
};

// The sequences of a micro-batch while it fills. The last token of a sequence predicts nothing and
// is left out. With shared prompts a sequence shares the longest common prefix with an earlier
// sequence, at most its prompt without the last token. Of several such sequences it takes the
// first.
struct MicroBatchLayout {
  std::vector<std::size_t> members;
  std::vector<model::SharedPrefix> prefixes;  // of each member; empty if none are shared
  std::int64_t tokens = 0;                    // tokens that are computed
  std::int64_t shared = 0;  // tokens that are not computed, because they are shared

  // Adds the sequence, or leaves the layout unchanged if the budget would be exceeded. The first
  // sequence always fits.
  bool add(std::span<const TrainingSequence> sequences, std::size_t member,
           const PackingOptions& options);
};

// Cuts the members into micro-batches: each takes as many consecutive members as the budget allows.
std::vector<MicroBatchLayout> pack_in_order(std::span<const TrainingSequence> sequences,
                                            std::span<const std::size_t> members,
                                            const PackingOptions& options);

// Members in runs with the same prompt, and the tokens of each run if its prompt is computed once.
struct PromptRuns {
  std::vector<std::vector<std::size_t>> members;
  std::vector<std::int64_t> tokens;
};
PromptRuns runs_of_one_prompt(std::span<const TrainingSequence> sequences,
                              std::span<const std::size_t> members);

// The example at each position of an endless stream over the data set. Rng(seed, purpose, epoch)
// shuffles each epoch.
class EpochOrder {
 public:
  EpochOrder(std::uint64_t seed, std::string_view purpose, std::size_t examples);
  std::size_t at(std::uint64_t position);
  double epochs_at(std::uint64_t position) const {
    return static_cast<double>(position) / static_cast<double>(order_.size());
  }

 private:
  void shuffle_for(std::uint64_t epoch);
  std::uint64_t seed_;
  std::string purpose_;
  std::uint64_t epoch_ = 0;
  std::vector<std::size_t> order_;
};

}  // namespace tritonsmith::train
