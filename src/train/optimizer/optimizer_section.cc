#include "train/optimizer/optimizer_section.h"

namespace tritonsmith::train {

Fields<OptimizerSection> OptimizerSection::fields() {
  using S = OptimizerSection;
  return {
      field("learning_rate", &S::learning_rate, "The highest learning rate, after the warm-up.",
            between(0.0, 10.0)),
      field("schedule", &S::schedule,
            "How the learning rate falls from its peak: constant, cosine or linear."),
      field("warmup_updates", &S::warmup_updates,
            "During this many updates the learning rate rises to its peak.",
            at_least<std::int64_t>(0)),
      field("final_ratio", &S::final_ratio,
            "The learning rate of the last update, as a share of the peak.", between(0.0, 1.0)),
      field("beta1", &S::beta1, "AdamW: the decay of the mean of gradients.",
            between(0.0, 0.999999)),
      field("beta2", &S::beta2, "AdamW: the decay of the mean of squared gradients.",
            between(0.0, 0.999999)),
      field("epsilon", &S::epsilon,
            "AdamW: the number that is added to the root of the second mean.", between(1e-30, 1.0)),
      field("weight_decay", &S::weight_decay,
            "The decoupled weight decay. Norms and biases have none.", between(0.0, 10.0)),
      field("max_grad_norm", &S::max_grad_norm,
            "Gradients are scaled down to this global norm. 0: no limit.", at_least(0.0)),
      field("micro_batch_tokens", &S::micro_batch_tokens,
            "How many tokens go into one forward and backward pass. It limits the memory and does "
            "not change the result.",
            at_least<std::int64_t>(16)),
      field("share_prompts", &S::share_prompts,
            "Compute common beginnings of sequences once in a pass: on, off, or auto, which is on "
            "for a GPU.")};
}

}  // namespace tritonsmith::train
