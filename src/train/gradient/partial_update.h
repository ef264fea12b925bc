// PartialUpdate: the policy gradient of one update, computed group by group while the rest of the
// step is still written and judged. The divisor depends on the whole step, but it is one number for
// all tokens. Micro-batches therefore pass through the model undivided as soon as they are full,
// and the sum is divided at the end. They are the same micro-batches, in the same order, as those
// of the whole step. The time at which a group is complete therefore changes nothing. The training
// thread owns it.
#pragma once

#include "train/gradient/gradient_columns.h"

namespace tritonsmith::train {

class PartialUpdate {
 public:
  // Clears the learner's gradients and uses them from here on. Requires a learner with one rank and
  // a step with one update.
  PartialUpdate(Learner& learner, PolicyGradientOptions options);

  // Adds the step's next sequences with their advantages. Full micro-batches pass through the
  // model.
  void add(PolicyBatch more);
  // Passes the remaining sequences, and ends this update. The learner's gradients are then those of
  // the whole step, as set_policy_gradient() computes them.
  PolicyGradientReport finish() &&;

 private:
  void append(PolicyBatch more);
  // Passes these members of batch_ through the model.
  void pass(std::span<const std::size_t> members);
  // Returns the factor of the segment's tokens, apart from the divisor of the whole step.
  double own_weight(std::size_t segment) const;
  Learner& learner_;
  PolicyGradientOptions options_;
  PolicyBatch batch_;            // the sequences so far
  std::vector<double> weights_;  // of its segments
  MicroBatchLayout waiting_;     // the micro-batch that is not full yet
  GradientSums sums_;
};

}  // namespace tritonsmith::train
