#include "train/optimizer/optimizer_section.h"

namespace tritonsmith::train {

Fields<OptimizerSection> OptimizerSection::fields() {
  using S = OptimizerSection;
  return {
      field("learning_rate", &S::learning_rate, "the peak, after the warm-up", between(0.0, 10.0)),
      field("schedule", &S::schedule, "constant, cosine or linear, from the peak downwards"),
      field("warmup_updates", &S::warmup_updates, "updates of linear rise to the peak",
            at_least<std::int64_t>(0)),
      field("final_ratio", &S::final_ratio, "the last update's rate, as a share of the peak",
            between(0.0, 1.0)),
      field("beta1", &S::beta1, "AdamW: decay of the mean of gradients", between(0.0, 0.999999)),
      field("beta2", &S::beta2, "AdamW: decay of the mean of squared gradients",
            between(0.0, 0.999999)),
      field("epsilon", &S::epsilon, "AdamW: added to the root of the second mean",
            between(1e-30, 1.0)),
      field("weight_decay", &S::weight_decay, "decoupled; norms and biases take none",
            between(0.0, 10.0)),
      field("max_grad_norm", &S::max_grad_norm,
            "gradients are scaled down to this global norm; 0: no limit", at_least(0.0)),
      field("micro_batch_tokens", &S::micro_batch_tokens,
            "tokens in one forward and backward pass; bounds the memory, never the result",
            at_least<std::int64_t>(16)),
      field("share_prompts", &S::share_prompts,
            "auto, on or off: compute once in a pass what prompts have in common; auto: on a GPU")};
}

}  // namespace tritonsmith::train
