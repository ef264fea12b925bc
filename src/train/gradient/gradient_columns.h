// Computes the parts of a policy gradient besides the model. They are the sequences that pass
// through the model, the factor of each token's loss, the columns of a micro-batch's tokens, and
// the reported sums. set_policy_gradient (policy_gradient.h) and PartialUpdate (partial_update.h)
// use them. All but the sums are pure. The training thread calls them.
#pragma once

#include "train/gradient/policy_gradient.h"

namespace tritonsmith::train {

// Returns the number of trained tokens of a segment, or 0 if it does not count.
std::int64_t counted_length(const PolicyBatch& batch, std::size_t segment);

// Returns the factor of the members' tokens for every segment of the batch (0 for other segments).
std::vector<double> weights_of(const PolicyBatch& batch, std::span<const std::size_t> members,
                               const PolicyGradientOptions& options);

// Returns the members with a coefficient that is not 0.
std::vector<std::size_t> needed_members(const PolicyBatch& batch,
                                        std::span<const std::size_t> members,
                                        const PolicyGradientOptions& options);
// The same, but with at least one member if any counts.
std::vector<std::size_t> members_for_model(const PolicyBatch& batch,
                                           std::span<const std::size_t> members,
                                           const PolicyGradientOptions& options);

// The inputs of the loss for a micro-batch's tokens, [N] each.
struct Columns {
  at::Tensor weight, sampler, advantage;
  // undefined if the options do not need them
  at::Tensor old, trainer, reference, mismatch, sequence;

  static Columns of(const MicroBatch& micro, const PolicyBatch& batch,
                    std::span<const double> weights, const PolicyGradientOptions& options);
  // Returns the columns of a range of the tokens.
  Columns part(std::int64_t begin, std::int64_t count) const;
};

// Sums over the tokens of all micro-batches. They stay on the device until the end.
class GradientSums {
 public:
  struct Measured {
    at::Tensor weight, entropy, sampler, trainer;  // [N]
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
  std::span<const double> weights;  // for every segment of the batch
};

// Adds the gradient of these members to the learner's gradients, and the measurements to `sums`.
void add_policy_gradient(Learner& learner, const PolicyBatch& batch, const WeighedMembers& weighed,
                         const PolicyGradientOptions& options, GradientSums& sums);

}  // namespace tritonsmith::train
