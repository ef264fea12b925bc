// RunningGradient: the policy gradient of one update, taken up group by group while the rest of the
// step is still written and judged. What divides depends on the whole step, but is one number for
// all of its tokens: so micro-batches are passed undivided as soon as they are full, and the sum is
// divided at the end. The micro-batches are those that the whole step would be cut into, in the
// same order, so when which group was complete changes nothing. One thread owns it, that trains.
#pragma once

#include "train/gradient_columns.h"

namespace tritonsmith::train {

class RunningGradient {
 public:
  // Clears the learner's gradients, which are its own from here on. The learner is alone, and all
  // of the step goes into one update.
  RunningGradient(Learner& learner, PolicyGradientOptions options);

  // The step's next sequences, advantages and all; those that fill micro-batches pass the model.
  void add(PolicyBatch more);
  // The rest passes too; the learner's gradients are then those of the whole step, as
  // set_policy_gradient() leaves them. Once.
  PolicyGradientReport finish();

 private:
  void append(PolicyBatch more);
  // These of batch_'s sequences.
  void pass(std::span<const std::size_t> members);
  // What a token of the segment is multiplied by, up to the one number that is not known yet.
  double own_weight(std::size_t segment) const;
  Learner& learner_;
  PolicyGradientOptions options_;
  PolicyBatch batch_;            // until now
  std::vector<double> weights_;  // of its segments
  MicroBatchPlan waiting_;       // that is not full yet
  GradientSums sums_;
};

}  // namespace tritonsmith::train
