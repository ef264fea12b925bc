// RunningGradient: the policy gradient of one update, computed group by group while the rest of the
// step is still written and judged. The divisor depends on the whole step, but it is one number for
// all tokens. Micro-batches therefore pass through the model undivided as soon as they are full,
// and the sum is divided at the end. They are the same micro-batches, in the same order, as those
// of the whole step. The time at which a group is complete therefore changes nothing. The training
// thread owns it.
#pragma once

#include "train/gradient_columns.h"

namespace tritonsmith::train {

class RunningGradient {
 public:
  // Clears the learner's gradients and uses them from here on. Requires a learner with one rank and
  // a step with one update.
  RunningGradient(Learner& learner, PolicyGradientOptions options);

  // Adds the step's next sequences with their advantages. Full micro-batches pass through the
  // model.
  void add(PolicyBatch more);
  // Passes the remaining sequences. The learner's gradients are then those of the whole step, as
  // set_policy_gradient() computes them. Must be called once.
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
