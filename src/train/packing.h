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

// Indices of `lengths`, cut into micro-batches: as many in a row as the budget takes, at least one
// each.
std::vector<std::vector<std::size_t>> pack_in_order(std::span<const std::int64_t> lengths,
                                                    std::int64_t budget);

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
