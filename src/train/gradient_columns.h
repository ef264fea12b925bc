// What a policy gradient is made from beside the model: which sequences go through it, what each
// token's loss is multiplied by, the columns of a micro-batch's tokens, and the sums that are
// reported. Pieces of set_policy_gradient (policy_gradient.h) and of RunningGradient
// (running_gradient.h); pure but for the sums. The thread that trains calls them.
#pragma once

#include "train/policy_gradient.h"

namespace tritonsmith::train {

// Trained tokens of a segment; 0 where it does not count.
std::int64_t counted_length(const PolicyBatch& batch, std::size_t segment);

// What the members' tokens are multiplied by, for every segment of the batch (0 elsewhere).
std::vector<double> weights_of(const PolicyBatch& batch, std::span<const std::size_t> members,
                               const PolicyGradientOptions& options);

// Those that have a coefficient that is not 0.
std::vector<std::size_t> needed_members(const PolicyBatch& batch,
                                        std::span<const std::size_t> members,
                                        const PolicyGradientOptions& options);
// The same, but one in any case, if any counts.
std::vector<std::size_t> members_for_model(const PolicyBatch& batch,
                                           std::span<const std::size_t> members,
                                           const PolicyGradientOptions& options);

// What the loss of a micro-batch's tokens is made from, [N] each.
struct Columns {
  at::Tensor weight, sampler, advantage;
  at::Tensor old, reference, mismatch, sequence;  // undefined where the options want none

  static Columns of(const MicroBatch& micro, const PolicyBatch& batch,
                    std::span<const double> weights, const PolicyGradientOptions& options);
  // Of a stretch of the tokens.
  Columns part(std::int64_t begin, std::int64_t count) const;
};

// Sums over the tokens of all micro-batches, on the device until the end.
class GradientSums {
 public:
  struct Measured {
    at::Tensor weight, entropy, sampler;  // [N]
  };
  void add(const algorithm::PolicyLoss& loss, const algorithm::PolicyTokens& tokens,
           const Measured& measured);
  void add_passed(const MicroBatch& batch) {
    // The last token of a sequence goes through for its target's sake.
    tokens_ += batch.packed.length() + batch.packed.sequences();
    shared_tokens_ += batch.shared;
  }
  std::int64_t tokens() const { return tokens_; }
  PolicyGradientReport report() const;

 private:
  at::Tensor sums_, largest_;
  DifferenceHistogram differences_;
  std::int64_t count_ = 0, tokens_ = 0, shared_tokens_ = 0;
};

struct WeighedMembers {
  std::span<const std::size_t> members;
  std::span<const double> weights;  // of every segment of the batch
};

// Adds the gradient of these members to the learner's, and what was measured to `sums`.
void add_policy_gradient(Learner& learner, const PolicyBatch& batch, const WeighedMembers& weighed,
                         const PolicyGradientOptions& options, GradientSums& sums);

}  // namespace tritonsmith::train
