// The gradient of supervised fine-tuning: cross-entropy on completion tokens with the prompt
// masked, averaged over all completion tokens of the optimizer step.
#pragma once

#include "train/gradient/learner.h"

namespace tritonsmith::train {

struct SftGradientReport {
  double loss = 0;     // mean -logprob over the step's trained tokens, in nats
  double entropy = 0;  // mean entropy of the model at these tokens
  std::int64_t trained_tokens = 0;
  std::int64_t tokens = 0;         // tokens that passed through the model, prompts included
  std::int64_t shared_tokens = 0;  // prompt tokens that were computed once for several sequences
};

// Replaces the learner's gradients. `members` lists the step's sequences. A learner of several
// ranks computes the gradient of its share only, with the divisors of the whole. Loss and entropy
// are then its part of the means, and tokens are those of its share. sum_over_ranks() adds them up.
SftGradientReport set_sft_gradient(Learner& learner, std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members,
                                   const PackingOptions& packing);

Status sum_over_ranks(SftGradientReport& report, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
