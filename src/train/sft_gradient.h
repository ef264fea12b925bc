// The gradient of supervised fine-tuning: cross entropy on completion tokens, the prompt masked
// out, averaged over all completion tokens of the optimizer step.
#pragma once

#include "train/learner.h"

namespace tritonsmith::train {

struct SftGradientReport {
  double loss = 0;     // mean -logprob over the step's trained tokens, in nats
  double entropy = 0;  // mean of the model's own entropy there
  std::int64_t trained_tokens = 0;
  std::int64_t tokens = 0;         // that went through the model, prompts included
  std::int64_t shared_tokens = 0;  // of prompts, that others of the same pass went through for
};

// Replaces the learner's gradients. `members` name the sequences of the step. A learner of several
// ranks computes the gradient of its share alone, divided as the whole is: then loss and entropy
// are its part of the means, tokens those of its share, and sum_over_ranks() adds them up.
SftGradientReport set_sft_gradient(Learner& learner, std::span<const TrainingSequence> sequences,
                                   std::span<const std::size_t> members,
                                   const PackingOptions& packing);

Status sum_over_ranks(SftGradientReport& report, distributed::Ranks& ranks);

}  // namespace tritonsmith::train
